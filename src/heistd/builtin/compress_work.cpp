// The upload as one zstd frame.
#define ZSTD_STATIC_LINKING_ONLY  // NOLINT: zstd's switch for ZSTD_estimateCStreamSize_usingCParams
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/limits.hpp>
#include <new>

namespace heistd {
namespace {

constexpr int level = 3;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
};

std::size_t require(std::size_t code) {
  if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) throw std::bad_alloc();
  if (ZSTD_isError(code) != 0) throw JobFailure("compress_failed", ZSTD_getErrorName(code));
  return code;
}

class CompressWork final : public JobWork {
 public:
  explicit CompressWork(Blocks body) : body_(std::move(body)), bytes_(byte_count(body_)) {}

  bool step(std::chrono::nanoseconds /*budget: a block is short*/) override {
    if (!context_) start();
    const std::string block = next_ < body_.size() ? std::move(body_[next_++]) : std::string();
    const bool last = next_ == body_.size();
    compress(block, last ? ZSTD_e_end : ZSTD_e_continue);
    return last;
  }

  Blocks give_up_body() noexcept override { return std::move(body_); }

  JobResult take_result() override {
    context_.reset();
    return BytesResult{"application/zstd", std::move(output_)};
  }

 private:
  void start() {
    context_.reset(ZSTD_createCCtx());
    if (!context_) throw std::bad_alloc();
    require(ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, level));
    require(ZSTD_CCtx_setPledgedSrcSize(context_.get(), bytes_));
  }

  void compress(const std::string& block, ZSTD_EndDirective directive) {
    ZSTD_inBuffer in{block.data(), block.size(), 0};
    for (bool more = true; more;) {
      auto out = room();
      const auto left = require(ZSTD_compressStream2(context_.get(), &out, &in, directive));
      used_ = out.pos;
      more = directive == ZSTD_e_end ? left != 0 : in.pos < in.size;
    }
    if (directive == ZSTD_e_end) trim();
  }

  /// Free space at the end of the output: what its last block has left, or a new block.
  ZSTD_outBuffer room() {
    if (output_->empty() || used_ == output_->back().size()) {
      output_->emplace_back(std::min(ZSTD_compressBound(bytes_), block_bytes), '\0');
      used_ = 0;
    }
    return {output_->back().data(), output_->back().size(), used_};
  }

  /// The result is kept for a while: without the room that it did not need.
  void trim() {
    output_->back().resize(used_);
    output_->back().shrink_to_fit();
    output_->shrink_to_fit();
  }

  Blocks body_;
  std::size_t bytes_;
  std::size_t next_ = 0;
  std::unique_ptr<ZSTD_CCtx, FreeContext> context_;
  std::shared_ptr<Blocks> output_ = std::make_shared<Blocks>();
  std::size_t used_ = 0;
};

/// The memory of zstd's context. Work that is done in one chunk keeps nothing between chunks.
std::size_t context_bytes(std::size_t body_bytes) noexcept {
  if (body_bytes <= block_bytes) return 0;
  return ZSTD_estimateCStreamSize_usingCParams(ZSTD_getCParams(level, body_bytes, 0));
}

}  // namespace

std::unique_ptr<JobWork> make_compress_work(Blocks body) {
  return std::make_unique<CompressWork>(std::move(body));
}

Kind compress_kind() {
  Kind kind;
  kind.name = "compress";
  kind.label = "compress";
  kind.working_bytes = context_bytes;
  kind.make_work = [](JobInput input) { return make_compress_work(std::move(input.body)); };
  return kind;
}

}  // namespace heistd
