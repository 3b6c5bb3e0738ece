#include <algorithm>
#include <heistd/limits.hpp>
#include <heistd/upload.hpp>
#include <utility>

namespace heistd {

std::optional<Refusal> Upload::announce(std::uint64_t bytes) {
  if (auto refusal = take(bytes)) return refusal;
  announced_ = bytes;
  return std::nullopt;
}

std::optional<Refusal> Upload::take(std::size_t bytes) {
  if (bytes > max_body_ - received_) {
    return Refusal{413, "body_too_large",
                   "the body is larger than " + std::to_string(max_body_) + " bytes"};
  }
  if (!ticket_.grow(bytes)) {
    return unavailable("queue_full", "this client's unfinished jobs take too much memory");
  }
  return std::nullopt;
}

std::span<char> Upload::room() {
  if (blocks_.empty() || used_ == blocks_.back().size()) {
    const auto expected = announced_ ? *announced_ - received_ : block_bytes;
    blocks_.emplace_back(std::clamp<std::size_t>(expected, 1, block_bytes), '\0');
    used_ = 0;
  }
  return std::span(blocks_.back()).subspan(used_);
}

std::optional<Refusal> Upload::commit(std::size_t bytes) {
  if (!announced_) {
    if (auto refusal = take(bytes)) return refusal;
  }
  received_ += bytes;
  used_ += bytes;
  return std::nullopt;
}

Result<std::shared_ptr<Job>> Upload::submit(JobService& service) {
  if (!blocks_.empty()) {
    blocks_.back().resize(used_);
    blocks_.back().shrink_to_fit();
    if (used_ == 0) blocks_.pop_back();
  }
  return service.submit(*client_, request_, std::move(blocks_), std::move(ticket_));
}

}  // namespace heistd
