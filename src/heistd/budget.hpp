// Budget: how many jobs and bytes one client has under way, in memory and on the disk.
#pragma once

#include <algorithm>
#include <cstddef>
#include <heist/detail/sync.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

namespace heistd {

/// Counts what a client's uploads and unfinished jobs take. A share is given back when the job's
/// work is really gone, wherever that happens, so an aborted job counts until its memory is free.
/// Of uploads that a journal stores, the bytes on its disk count by themselves.
///
/// Thread: jobs are taken on the network thread; bytes are taken, and all is given back, on any.
class Budget : public std::enable_shared_from_this<Budget> {
 public:
  Budget(std::size_t max_jobs, std::size_t max_bytes,
         std::size_t max_stored = std::numeric_limits<std::size_t>::max()) noexcept
      : max_jobs_(max_jobs), max_bytes_(max_bytes), max_stored_(max_stored) {}

  /// A share: bytes, stored ones, and mostly a job; move-only.
  class Ticket {
   public:
    Ticket(Ticket&& other) noexcept
        : budget_(std::move(other.budget_)),
          jobs_(std::exchange(other.jobs_, 0)),
          bytes_(std::exchange(other.bytes_, 0)),
          stored_(std::exchange(other.stored_, 0)) {}
    Ticket& operator=(Ticket&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(jobs_, other.jobs_);
      std::swap(bytes_, other.bytes_);
      std::swap(stored_, other.stored_);
      return *this;
    }
    ~Ticket() {
      if (budget_) budget_->give_back(jobs_, bytes_, stored_);
    }

    /// Adds bytes to the share; false when they are not left.
    [[nodiscard]] bool grow(std::size_t bytes) noexcept {
      if (!take(budget_->bytes_, bytes, budget_->max_bytes_)) return false;
      bytes_ += bytes;
      return true;
    }
    /// Adds bytes that a journal stores; false when they are not left.
    [[nodiscard]] bool store(std::size_t bytes) noexcept {
      if (!take(budget_->stored_, bytes, budget_->max_stored_)) return false;
      stored_ += bytes;
      return true;
    }

    /// The bytes beyond so many, as a share of their own, which has no job.
    [[nodiscard]] Ticket split(std::size_t kept) noexcept {
      Ticket rest(budget_, 0);
      rest.bytes_ = bytes_ - std::min(bytes_, kept);
      bytes_ -= rest.bytes_;
      return rest;
    }

    /// The stored bytes, as a share of their own.
    [[nodiscard]] Ticket split_stored() noexcept {
      Ticket rest(budget_, 0);
      rest.stored_ = std::exchange(stored_, 0);
      return rest;
    }

    /// The other share, of the same budget, is a part of this one from now on.
    void join(Ticket other) noexcept {
      jobs_ += std::exchange(other.jobs_, 0);
      bytes_ += std::exchange(other.bytes_, 0);
      stored_ += std::exchange(other.stored_, 0);
    }

   private:
    friend class Budget;
    Ticket(std::shared_ptr<Budget> budget, std::size_t jobs) noexcept
        : budget_(std::move(budget)), jobs_(jobs) {}
    std::shared_ptr<Budget> budget_;
    std::size_t jobs_;
    std::size_t bytes_ = 0;
    std::size_t stored_ = 0;
  };

  /// A share for one more job, unless there are too many.
  [[nodiscard]] std::optional<Ticket> take_job() {
    // relaxed, here and below: the counts guard nothing but themselves, and only this thread adds
    // jobs.
    if (jobs_.load(heist::detail::sync::relaxed) >= max_jobs_) return std::nullopt;
    jobs_.fetch_add(1, heist::detail::sync::relaxed);
    return Ticket(shared_from_this(), 1);
  }

  /// A share for a job that was accepted before, whatever there is already.
  [[nodiscard]] Ticket take_accepted(std::size_t bytes) {
    jobs_.fetch_add(1, heist::detail::sync::relaxed);
    Ticket ticket(shared_from_this(), 1);
    bytes_.fetch_add(bytes, heist::detail::sync::relaxed);
    ticket.bytes_ = bytes;
    return ticket;
  }

  /// The stored bytes of such a job.
  [[nodiscard]] Ticket take_stored(std::size_t bytes) {
    Ticket ticket(shared_from_this(), 0);
    stored_.fetch_add(bytes, heist::detail::sync::relaxed);
    ticket.stored_ = bytes;
    return ticket;
  }

  /// A job that was accepted, and waits, takes so many bytes, and so many are stored; whoever calls
  /// this calls leave().
  void enter(std::size_t bytes, std::size_t stored) noexcept {
    jobs_.fetch_add(1, heist::detail::sync::relaxed);
    bytes_.fetch_add(bytes, heist::detail::sync::relaxed);
    stored_.fetch_add(stored, heist::detail::sync::relaxed);
  }
  void leave(std::size_t bytes, std::size_t stored) noexcept { give_back(1, bytes, stored); }

  /// A share of bytes only, unless they are not left.
  [[nodiscard]] std::optional<Ticket> take_memory(std::size_t bytes) {
    Ticket ticket(shared_from_this(), 0);
    if (!ticket.grow(bytes)) return std::nullopt;
    return ticket;
  }

  [[nodiscard]] std::size_t jobs() const noexcept {
    return jobs_.load(heist::detail::sync::relaxed);
  }
  [[nodiscard]] std::size_t bytes() const noexcept {
    return bytes_.load(heist::detail::sync::relaxed);
  }
  /// On the disk of a journal.
  [[nodiscard]] std::size_t stored_bytes() const noexcept {
    return stored_.load(heist::detail::sync::relaxed);
  }

 private:
  using Count = heist::detail::sync::atomic<std::size_t>;

  static bool take(Count& count, std::size_t size, std::size_t most) noexcept {
    auto taken = count.load(heist::detail::sync::relaxed);
    do {
      if (taken > most || size > most - taken) return false;
    } while (!count.compare_exchange_weak(taken, taken + size, heist::detail::sync::relaxed,
                                          heist::detail::sync::relaxed));
    return true;
  }
  void give_back(std::size_t jobs, std::size_t bytes, std::size_t stored) noexcept {
    stored_.fetch_sub(stored, heist::detail::sync::relaxed);
    bytes_.fetch_sub(bytes, heist::detail::sync::relaxed);
    jobs_.fetch_sub(jobs, heist::detail::sync::relaxed);
  }

  const std::size_t max_jobs_;
  const std::size_t max_bytes_;
  const std::size_t max_stored_;
  Count jobs_{0};
  Count bytes_{0};
  Count stored_{0};
};

}  // namespace heistd
