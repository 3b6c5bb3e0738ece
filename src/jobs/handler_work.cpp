#include <algorithm>
#include <heistd/verdicts.hpp>
#include <jobs/handler_work.hpp>
#include <utility>

namespace heistd {
namespace {

/// A reply has it as a header: printable characters of ASCII only.
void check_content_type(std::string_view text) {
  constexpr std::size_t most = 128;
  const auto is_printable = [](char byte) { return byte >= ' ' && byte <= '~'; };
  if (!text.empty() && text.size() <= most && std::ranges::all_of(text, is_printable)) return;
  throw JobFailure("bad_content_type",
                   "the handler's result has a content type that cannot stand in a header");
}

}  // namespace

bool HandlerWork::step(std::chrono::nanoseconds /*budget: the handler knows none*/) {
  if (!handled_) start();
  if (is_running()) return false;
  if (!taken_) take();
  return !file_ || read_file();
}

/// A parameter that was accepted unchecked is checked here.
void HandlerWork::start() {
  const auto verdict = judge(core_->kind, core_->parameters);
  if (verdict.refusal) throw JobFailure(verdict.refusal->code, verdict.refusal->message);
  handled_ = handler_(heist::jobs::Job(core_));
}

std::optional<heist::Promise<void>> HandlerWork::pending() {
  if (!is_running()) return std::nullopt;
  return handled_->then([](const heist::jobs::Result& /*taken later*/) {},
                        [](const heist::Reason& /*thrown later*/) {});
}

/// Errors: what the handler threw.
void HandlerWork::take() {
  auto result = std::move(*handled_).get();
  taken_ = true;
  check_content_type(result.content_type());
  content_type_ = result.content_type();
  for (auto& piece : result.take_pieces()) keep(std::move(piece));
  if (!result.path().empty()) file_.emplace(result.path());
}

void HandlerWork::keep(std::string piece) {
  output_bytes_ += piece.size();
  if (output_bytes_ > max_result_bytes_) {
    throw JobFailure("result_too_large",
                     "the result is larger than " + std::to_string(max_result_bytes_) + " bytes");
  }
  output_->push_back(std::move(piece));
}

/// True once all of it was read.
bool HandlerWork::read_file() {
  auto block = file_->read();
  if (block.empty()) return true;
  keep(std::move(block));
  return false;
}

/// A handler that still runs keeps the upload until it ends.
Blocks HandlerWork::give_up_body() noexcept {
  return is_running() ? Blocks() : std::move(core_->body);
}

JobResult HandlerWork::take_result() {
  for (auto& block : *output_) block.shrink_to_fit();
  output_->shrink_to_fit();
  return BytesResult{std::move(content_type_), std::move(output_)};
}

}  // namespace heistd
