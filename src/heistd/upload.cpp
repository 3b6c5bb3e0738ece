#include <algorithm>
#include <heistd/limits.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/upload.hpp>
#include <utility>

namespace heistd {

std::optional<Refusal> Upload::reserve_wait() {
  if (!request_.wait.any()) return std::nullopt;
  auto share = client_->take_wait();
  if (!share) return share.error();
  wait_ = std::move(*share);
  return std::nullopt;
}

/// What is announced is kept free from now on, sent or not. Small uploads need not compete for
/// that.
std::optional<Refusal> Upload::announce(std::uint64_t bytes) {
  if (auto refusal = take(bytes)) return refusal;
  announced_ = bytes;
  if (bytes <= block_bytes) return std::nullopt;
  auto share = client_->unsent_bytes.take(bytes);
  if (!share) {
    return unavailable("too_much_unsent",
                       "this client has announced too many bytes that it has not sent yet");
  }
  unsent_ = std::move(*share);
  return std::nullopt;
}

std::optional<Refusal> Upload::take(std::size_t bytes) {
  if (bytes > max_body_ - received_) {
    return Refusal{413, "body_too_large",
                   "the body is larger than " + std::to_string(max_body_) + " bytes"};
  }
  if (!blocks_.ticket.grow(bytes)) {
    return unavailable("queue_full", "this client's unfinished jobs take too much memory");
  }
  if (is_stored_ && !blocks_.ticket.store(bytes)) return JobService::too_many_stored();
  return std::nullopt;
}

std::span<char> Upload::room() {
  if (blocks_->empty() || used_ == blocks_->back().size()) {
    const NetworkReserve::Withheld only_what_is_left;
    const auto expected = announced_ ? *announced_ - received_ : block_bytes;
    blocks_->emplace_back(std::clamp<std::size_t>(expected, 1, block_bytes), '\0');
    used_ = 0;
  }
  return std::span(blocks_->back()).subspan(used_);
}

std::optional<Refusal> Upload::commit(std::size_t bytes) {
  if (!announced_) {
    if (auto refusal = take(bytes)) return refusal;
  }
  unsent_.give_back(std::min(bytes, unsent_.size()));
  received_ += bytes;
  if (digest_) digest_->add(std::string_view(blocks_->back()).substr(used_, bytes));
  used_ += bytes;
  return std::nullopt;
}

std::optional<IdempotencyKey> Upload::take_key() {
  if (!digest_) return std::nullopt;
  return digest_->finish();
}

Blocks Upload::take_blocks() {
  if (!blocks_->empty()) {
    blocks_->back().resize(used_);
    blocks_->back().shrink_to_fit();
    if (used_ == 0) blocks_->pop_back();
  }
  return std::move(*blocks_);
}

Result<std::shared_ptr<Job>> Upload::submit(JobService& service) {
  const NetworkReserve::Withheld only_what_is_left;
  auto body = take_blocks();
  return service.submit(*client_, request_, std::move(body), take_ticket());
}

}  // namespace heistd
