// Quota: a limited number of something, of which shares are taken and come back by themselves.
#pragma once

#include <cstddef>
#include <heist/detail/sync.hpp>
#include <optional>
#include <utility>

namespace heistd {

/// Unlike Budget, which outlives its owner for the agents, it is for what only the network and the
/// connections have.
///
/// Thread: any; a share is used by one at a time.   Lifetime: longer than that of its shares.
class Quota {
 public:
  explicit Quota(std::size_t most) noexcept : left_(most) {}
  Quota(const Quota&) = delete;
  Quota& operator=(const Quota&) = delete;

  /// Move-only.
  class Share {
   public:
    Share() noexcept = default;
    Share(Share&& other) noexcept { *this = std::move(other); }
    Share& operator=(Share&& other) noexcept {
      std::swap(quota_, other.quota_);
      std::swap(size_, other.size_);
      return *this;
    }
    ~Share() { give_back(size_); }

    /// Gives back a part of it.   Precondition: it is that large.
    void give_back(std::size_t size) noexcept {
      if (quota_ == nullptr) return;
      size_ -= size;
      quota_->left_.fetch_add(size, heist::detail::sync::relaxed);
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

   private:
    friend class Quota;
    Share(Quota& quota, std::size_t size) noexcept : quota_(&quota), size_(size) {}
    Quota* quota_ = nullptr;
    std::size_t size_ = 0;
  };

  /// A share, unless so much is not left.
  [[nodiscard]] std::optional<Share> take(std::size_t size) noexcept {
    // relaxed, here and above: the number guards nothing but itself.
    auto left = left_.load(heist::detail::sync::relaxed);
    do {
      if (size > left) return std::nullopt;
    } while (!left_.compare_exchange_weak(left, left - size, heist::detail::sync::relaxed,
                                          heist::detail::sync::relaxed));
    return Share(*this, size);
  }

 private:
  heist::detail::sync::atomic<std::size_t> left_;
};

}  // namespace heistd
