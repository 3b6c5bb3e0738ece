// raw_wheel: the floor of timers. A wheel of three levels with 64 slots each, the lowest of 1 ms,
// that reaches four minutes; the clock is read for each arm, as relative delays need.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <vector>

#include "../../completion.hpp"

namespace bench {

class RawWheel {
 public:
  static constexpr const char* name = "raw_wheel";
  /// On the calling thread, which then is the loop; what fell due meanwhile is run.
  template <class F>
  void post(F&& f) {
    f();
    expire(tick_of(Clock::now()));
  }
  void reserve(std::int64_t count) { timers_.reserve(std::size_t(count)); }
  template <class F>
  void arm(std::chrono::nanoseconds delay, F f) {
    static_assert(sizeof(F) <= sizeof(Timer::callable) && std::is_trivially_copyable_v<F>);
    Timer& timer = timers_.emplace_back();
    new (timer.callable.data()) F(f);
    timer.call = [](void* callable) { (*static_cast<F*>(callable))(); };
    timer.expiry = tick_of(Clock::now() + delay) + 1;
    link(timer);
  }
  void arm_cancellable(std::chrono::nanoseconds delay, Completion& gone) {
    arm(delay, [&gone] { gone.add(1); });
  }
  /// Tells as the others do; the callback would have said the same.
  void cancel(std::int64_t index) {
    Timer& timer = timers_[std::size_t(index)];
    unlink(timer);
    timer.call(timer.callable.data());
  }
  [[nodiscard]] std::int64_t count_armed() const {
    std::int64_t armed = 0;
    for (const auto& level : levels_) {
      for (const Link& slot : level) {
        for (const Link* link = slot.next; link != &slot; link = link->next) ++armed;
      }
    }
    return armed;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr unsigned level_bits = 6;
  static constexpr std::int64_t slots = 1 << level_bits;

  struct Link {
    Link* next = this;
    Link* previous = this;
  };
  struct Timer : Link {
    std::int64_t expiry = 0;
    void (*call)(void*) = nullptr;
    alignas(8) std::array<std::byte, 32> callable{};
  };

  [[nodiscard]] std::int64_t tick_of(Clock::time_point time) const {
    return std::chrono::floor<std::chrono::milliseconds>(time - made_).count();
  }
  void link(Timer& timer) {
    std::size_t level = 0;
    while (timer.expiry - tick_ >= slots << (level * level_bits)) ++level;
    Link& slot = slot_of(level, timer.expiry);
    timer.next = &slot;
    timer.previous = slot.previous;
    slot.previous->next = &timer;
    slot.previous = &timer;
  }
  static void unlink(Link& timer) {
    timer.next->previous = timer.previous;
    timer.previous->next = timer.next;
  }
  [[nodiscard]] Link& slot_of(std::size_t level, std::int64_t tick) {
    return levels_.at(level)[std::size_t((tick >> (level * level_bits)) % slots)];
  }
  /// Timers of a higher level go down as its slot begins.
  void expire(std::int64_t now) {
    while (tick_ <= now) {
      for (std::size_t level = levels_.size() - 1; level > 0; --level) {
        if (tick_ % (1 << (level * level_bits)) == 0)
          empty(slot_of(level, tick_), [this](Timer& timer) { link(timer); });
      }
      empty(slot_of(0, tick_), [](Timer& timer) { timer.call(timer.callable.data()); });
      ++tick_;
    }
  }
  template <class Use>
  static void empty(Link& slot, Use use) {
    while (slot.next != &slot) {
      auto& timer = static_cast<Timer&>(*slot.next);
      unlink(timer);
      use(timer);
    }
  }

  Clock::time_point made_ = Clock::now();
  std::int64_t tick_ = 0;  ///< the next to expire
  std::array<std::array<Link, slots>, 3> levels_;
  std::vector<Timer> timers_;
};

}  // namespace bench
