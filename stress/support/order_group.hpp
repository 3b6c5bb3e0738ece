// OrderGroup: a signal whose priority changes and which may be aborted. It tells a history of this.
#pragma once

#include <cstdint>
#include <heist/heist.hpp>
#include <memory>

#include "fence.hpp"
#include "order_teller.hpp"

namespace heist::stress {

using namespace detail;

/// Thread: any that has a teller.
///
/// Edge stress: open -> enter. If one change of a group comes after another, it is told after it.
class OrderGroup {
 public:
  /// Makes a group. `number` must not be that of any other group of the history.
  template <class Clock>
  static std::shared_ptr<OrderGroup> make(OrderTeller<Clock>& me, std::uint32_t number) {
    const Moment begin = me.lane().before();
    const TaskPriority priority = priorities[me.random.below(3)];
    auto group = std::make_shared<OrderGroup>(priority, number, me.random.one_in(2));
    me.lane().moved(number, static_cast<std::uint8_t>(priority), begin);
    return group;
  }
  OrderGroup(TaskPriority initial, std::uint32_t number, bool is_abortable)
      : controller_(initial), number_(number), is_abortable_(is_abortable) {}

  [[nodiscard]] TaskSignal signal() const { return controller_.signal(); }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] bool is_abortable() const noexcept { return is_abortable_; }

  /// Sets another priority, unless another thread is changing the group.
  template <class Clock>
  void move(OrderTeller<Clock>& me) {
    if (!take()) return;
    const TaskPriority priority = priorities[me.random.below(3)];
    const Moment begin = me.lane().before();
    controller_.set_priority(priority);
    me.lane().moved(number_, static_cast<std::uint8_t>(priority), begin);
    is_taken_.store(false, sync::edge("stress:open", sync::release));
  }
  /// Aborts the group. Returns false, and does nothing, if another thread is changing the group.
  template <class Clock>
  bool abort(OrderTeller<Clock>& me) {
    if (!take()) return false;
    const Moment begin = me.lane().before();
    controller_.abort();
    me.lane().moved(number_, no_priority, begin);
    return true;
  }

 private:
  bool take() noexcept {
    return !is_taken_.exchange(true, sync::edge("stress:enter", sync::acquire));
  }

  TaskController controller_;
  const std::uint32_t number_;
  const bool is_abortable_;
  sync::atomic<bool> is_taken_{false};
};

}  // namespace heist::stress
