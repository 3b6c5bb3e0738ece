// SemaphoreCore: the permits of a semaphore, or the one of a mutex.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/lent_lock.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <heist/detail/wait_core.hpp>
#include <heist/version.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

/// Permits, and those who wait for one. A mutex has one permit, and a LentLock: those who wait lend
/// their priority to whoever has that permit.
///
/// Roles   taker, leaver: any thread.  Besides, WaitCore's.
/// States  word_: the balance, which is the number of free permits less that of waiters, and the
///         number of shares. owed_: how many permits were taken for the line and not given to
///         anyone in it yet.
/// I1      A waiter joins the line before it counts itself, and watches signals afterwards. So
///         there are never more owed permits than waiters in the line, and whoever was aborted has
///         been counted.
/// I2      Who takes a waiter out that was aborted raises the balance. If that was not negative,
///         a permit was owed for this waiter, and is free again.
/// I3      A permit has a share. A leaver that finds nobody waiting gives both back in one step;
///         any other one keeps its share until it has served.
/// Edge permit: leave, add -> take, join. What was done with a permit is over before it is taken
///   again.
/// Edge permit: owe -> give. The server that gives a permit knows what the leaver did before.
/// Edge permit: drop, leave -> drop, leave. As of RefCount: the last use of each share is over
///   before the memory goes.
/// Progress  taking and leaving are lock-free.
/// Proof   stress/model/models/primitives.cpp, stress/primitives_stress.cpp
class HEIST_EXPORT SemaphoreCore final : public WaitCore {
 public:
  /// The caller has a share.   Errors: std::invalid_argument for more than most_permits;
  /// std::bad_alloc.
  [[nodiscard]] static Ref<SemaphoreCore> make(std::size_t permits);
  [[nodiscard]] static Ref<SemaphoreCore> make_mutex();
  explicit SemaphoreCore(std::int64_t permits) noexcept : word_(permits * permit + share) {}
  ~SemaphoreCore() = default;

  static constexpr std::int64_t most_permits = (std::int64_t{1} << 30) - 1;

  /// For a holder of a share: takes a permit, and a share for it.
  [[nodiscard]] bool try_take() noexcept {
    std::int64_t word = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    while (balance_of(word) > 0) {
      if (word_.compare_exchange_weak(word, word - permit + share,
                                      sync::edge("permit:take", sync::acquire),
                                      sync::relaxed)) {  // relaxed: a failure only retries.
        return true;
      }
    }
    return false;
  }
  /// Gives a permit back, and the share that it has.
  static void leave(Ref<SemaphoreCore> core) noexcept {
    std::int64_t word = core->word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
    do {
      if (balance_of(word) < 0) return core->pass_on();
    } while (!core->word_.compare_exchange_weak(word, word + permit - share,
                                                sync::edge("permit:leave", sync::acq_rel),
                                                sync::relaxed));  // relaxed: it only retries.
    SemaphoreCore* const left = core.detach();
    if (shares_of(word) == 1) destroy(*left);
  }
  /// For a holder of a share: adds permits, or gives them to those who wait.
  /// Errors: std::overflow_error when more than most_permits would be free; then nothing changes.
  void add_permits(std::uint32_t count);
  /// Of a mutex. Whoever has the permit calls hold() and let_go() of it.
  [[nodiscard]] LentLock& lent() noexcept { return *lent_; }
  void end_lending(Waiter& waiter) noexcept override;
  /// The waiter, and a share of it, go to the line.
  void wait(Waiter& waiter) noexcept;
  [[nodiscard]] std::uint32_t count_free() const noexcept {
    // relaxed: it is old as soon as it is known.
    const std::int64_t balance = balance_of(word_.load(sync::relaxed));
    return balance > 0 ? static_cast<std::uint32_t>(balance) : 0;
  }

  friend void retain(SemaphoreCore& core) noexcept {
    // relaxed: the caller has a share.
    core.word_.fetch_add(share, sync::relaxed);
  }
  friend void release(SemaphoreCore& core) noexcept {
    if (shares_of(core.word_.fetch_sub(share, sync::edge("permit:drop", sync::acq_rel))) == 1) {
      destroy(core);
    }
  }

 private:
  static constexpr std::int64_t share = 1;
  static constexpr std::int64_t permit = std::int64_t{1} << 32;
  [[nodiscard]] static std::int64_t balance_of(std::int64_t word) noexcept { return word >> 32; }
  [[nodiscard]] static std::int64_t shares_of(std::int64_t word) noexcept {
    return word & (permit - 1);
  }
  static void destroy(SemaphoreCore& core) noexcept;
  /// Gives one permit back, for a leaver that has seen somebody wait.
  void pass_on() noexcept;
  /// Of `count` permits that came while the balance was this, those who wait get what they need.
  void owe(std::int64_t count, std::int64_t balance) noexcept;
  void serve_some(WaiterList& granted, std::uint32_t left) noexcept override;
  void count_left() noexcept;

  sync::atomic<std::int64_t> word_;
  sync::atomic<std::int64_t> owed_{0};
  std::optional<LentLock> lent_;  ///< of a mutex
};

}  // namespace HEIST_NAMESPACE::detail
