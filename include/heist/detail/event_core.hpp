// EventCore: what an AsyncEvent stands for.
#pragma once

#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <heist/detail/wait_core.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// An event that is set or not, and those who wait for it.
///
/// Roles   setter: any thread.  Besides, WaitCore's.
/// States  word_: whether it is set, and how often it has been set.
/// I1      A waiter notes how often the event had been set, and joins if it was not set then. It
///         goes on as soon as that number is another one, although the event may have been reset
///         meanwhile.
/// Edge event: set -> look. Who goes on sees what the setter did before.
/// Progress  lock-free.
/// Proof   stress/model/models/primitives.cpp, stress/primitives_stress.cpp
class HEIST_EXPORT EventCore final : public WaitCore {
 public:
  /// The caller has a share.   Errors: std::bad_alloc.
  [[nodiscard]] static Ref<EventCore> make(bool is_set);
  explicit EventCore(bool is_set) noexcept : word_(is_set ? set_bit : 0) {}
  ~EventCore() = default;

  [[nodiscard]] bool is_set() const noexcept {
    return (word_.load(sync::edge("event:look", sync::acquire)) & set_bit) != 0;
  }
  [[nodiscard]] bool try_take() const noexcept { return is_set(); }
  /// For holders of a share.
  void set() noexcept;
  void reset() noexcept;
  /// The waiter, and a share of it, go to the line.
  void wait(Waiter& waiter) noexcept;

  friend void retain(EventCore& core) noexcept { core.shares_.add(); }
  friend void release(EventCore& core) noexcept {
    if (core.shares_.drop()) destroy(core);
  }

 private:
  static constexpr std::uint64_t set_bit = 1;
  static constexpr std::uint64_t one_set = 2;
  static void destroy(EventCore& core) noexcept;
  void serve_some(WaiterList& granted, std::uint32_t left) noexcept override;

  sync::atomic<std::uint64_t> word_;
  RefCount shares_{1};
};

}  // namespace HEIST_NAMESPACE::detail
