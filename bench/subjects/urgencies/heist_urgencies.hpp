// Heist: a cluster of two agents, and two agents by themselves.
#pragma once

#include <array>
#include <cstddef>
#include <heist/agent.hpp>
#include <heist/event_loop.hpp>
#include <heist/yield_if_urgent.hpp>
#include <utility>

#include "../heist_pool.hpp"

namespace bench {

/// Whichever agent is free first takes an urgent task.
class HeistUrgencies : HeistPool<2> {
 public:
  using HeistPool::name;
  template <class F>
  void post_urgent(F&& f) {
    scheduler().post(std::forward<F>(f), {.priority = heist::TaskPriority::user_blocking});
  }
  template <class F>
  void post_background(F&& f) {
    scheduler().post(std::forward<F>(f), {.priority = heist::TaskPriority::background});
  }
  /// To be awaited by a background task.
  [[nodiscard]] static heist::YieldIfUrgent let_urgent_go() noexcept {
    return heist::yield_if_urgent();
  }
};

/// Each has a half of the background, and urgent tasks are posted to them in turn: what one gets
/// from bound schedulers. The agent whose turn it is may be the busier one.
class HeistBoundUrgencies {
 public:
  static constexpr const char* name = "heist_bound";
  template <class F>
  void post_urgent(F&& f) {
    const auto& scheduler = schedulers_[turn_++ % schedulers_.size()];
    scheduler.post(std::forward<F>(f), {.priority = heist::TaskPriority::user_blocking});
  }
  /// From outside in turn; a task's successor stays where the task ran.
  template <class F>
  void post_background(F&& f) {
    const auto& scheduler = schedulers_[turn_++ % schedulers_.size()];
    scheduler.post(std::forward<F>(f), {.priority = heist::TaskPriority::background});
  }
  template <class F>
  void post_background_inside(F&& f) {
    const auto* const here = heist::Agent::current();
    const auto& scheduler = schedulers_[here == agents_.data() ? 0 : 1];
    scheduler.post(std::forward<F>(f), {.priority = heist::TaskPriority::background});
  }
  [[nodiscard]] static heist::YieldIfUrgent let_urgent_go() noexcept {
    return heist::yield_if_urgent();
  }

 private:
  std::array<heist::Agent, 2> agents_;
  std::array<heist::Scheduler, 2> schedulers_{agents_[0].scheduler(), agents_[1].scheduler()};
  std::size_t turn_ = 0;
};

}  // namespace bench
