// Budget: how many jobs and bytes one client has under way.
#pragma once

#include <cstddef>
#include <heist/sync.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace heistd {

/// Counts what a client's uploads and unfinished jobs take. A share is given back when the job's work is
/// really gone, wherever that happens, so an aborted job counts until its memory is free.
///
/// Thread: tickets are taken and grown on the network thread, given back on any.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  Budget(std::size_t max_jobs, std::size_t max_bytes) noexcept
      : max_jobs_(max_jobs), max_bytes_(max_bytes) {}

  /// The share of one job; move-only.
  class Ticket {
   public:
    Ticket(Ticket&& other) noexcept
        : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Ticket() {
      if (budget_) budget_->give_back(bytes_);
    }

    /// Adds bytes to the share; false when they are not left.
    [[nodiscard]] bool grow(std::size_t bytes) noexcept {
      if (!budget_->take_bytes(bytes)) return false;
      bytes_ += bytes;
      return true;
    }

   private:
    friend class Budget;
    explicit Ticket(std::shared_ptr<Budget> budget) noexcept : budget_(std::move(budget)) {}
    std::shared_ptr<Budget> budget_;
    std::size_t bytes_ = 0;
  };

  /// A share for one more job, unless there are too many.
  [[nodiscard]] std::optional<Ticket> take() {
    // relaxed, here and below: the counts guard nothing but themselves, and only this thread adds.
    if (jobs_.load(heist::sync::relaxed) >= max_jobs_) return std::nullopt;
    jobs_.fetch_add(1, heist::sync::relaxed);
    return Ticket(shared_from_this());
  }

  [[nodiscard]] std::size_t jobs() const noexcept { return jobs_.load(heist::sync::relaxed); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.load(heist::sync::relaxed); }

 private:
  bool take_bytes(std::size_t bytes) noexcept {
    if (bytes > max_bytes_ - bytes_.load(heist::sync::relaxed)) return false;
    bytes_.fetch_add(bytes, heist::sync::relaxed);
    return true;
  }
  void give_back(std::size_t bytes) noexcept {
    bytes_.fetch_sub(bytes, heist::sync::relaxed);
    jobs_.fetch_sub(1, heist::sync::relaxed);
  }

  const std::size_t max_jobs_;
  const std::size_t max_bytes_;
  heist::sync::atomic<std::size_t> jobs_{0};
  heist::sync::atomic<std::size_t> bytes_{0};
};

}  // namespace heistd
