// SHA-256 of the upload.
#include <openssl/evp.h>

#include <array>
#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/hex.hpp>
#include <new>

namespace heistd {
namespace {

struct Free {
  void operator()(EVP_MD_CTX* context) const noexcept { EVP_MD_CTX_free(context); }
  void operator()(EVP_MD* algorithm) const noexcept { EVP_MD_free(algorithm); }
};

void require(bool ok) {
  if (!ok) throw JobFailure("digest_failed", "the digest could not be computed");
}

std::unique_ptr<EVP_MD, Free> fetch_sha256() {
  std::unique_ptr<EVP_MD, Free> algorithm(EVP_MD_fetch(nullptr, "SHA256", nullptr));
  // Every OpenSSL has it, so that only memory can have been missing; the next job tries again.
  if (!algorithm) throw std::bad_alloc();
  return algorithm;
}

/// Fetched once: the first time takes OpenSSL longer than many a job.
const EVP_MD* sha256() {
  static const auto algorithm = fetch_sha256();
  return algorithm.get();
}

class DigestWork final : public JobWork {
 public:
  explicit DigestWork(Blocks body) : body_(std::move(body)) {}

  bool step(std::chrono::nanoseconds /*budget: a block is short*/) override {
    if (!context_) start();
    if (next_ < body_.size()) {
      const std::string block = std::move(body_[next_++]);
      require(EVP_DigestUpdate(context_.get(), block.data(), block.size()) == 1);
    }
    return next_ == body_.size();
  }

  Blocks give_up_body() noexcept override { return std::move(body_); }

  JobResult take_result() override {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    require(EVP_DigestFinal_ex(context_.get(), bytes.data(), &size) == 1);
    return JsonResult{{"{\"sha256\":\"" + to_hex({bytes.data(), size}) + "\"}"}};
  }

 private:
  void start() {
    context_.reset(EVP_MD_CTX_new());
    // Nothing but memory can be missing at the start.
    if (!context_ || EVP_DigestInit_ex(context_.get(), sha256(), nullptr) != 1) {
      throw std::bad_alloc();
    }
  }

  Blocks body_;
  std::size_t next_ = 0;
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace

std::unique_ptr<JobWork> make_digest_work(Blocks body) {
  return std::make_unique<DigestWork>(std::move(body));
}

Kind digest_kind() {
  Kind kind;
  kind.name = "digest";
  kind.label = "digest";
  kind.working_bytes = [](std::size_t /*body_bytes*/) { return std::size_t{0}; };
  kind.make_work = [](JobInput input) { return make_digest_work(std::move(input.body)); };
  return kind;
}

}  // namespace heistd
