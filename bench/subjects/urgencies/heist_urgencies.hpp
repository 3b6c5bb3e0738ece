// Heist: two agents with a half of the background each, to which urgent tasks are posted in turn. What one
// gets from bound schedulers: the agent whose turn it is may be the busier one.
#pragma once

#include <array>
#include <cstddef>
#include <heist/agent.hpp>
#include <heist/event_loop.hpp>
#include <utility>

namespace bench {

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

 private:
  std::array<heist::Agent, 2> agents_;
  std::array<heist::Scheduler, 2> schedulers_{agents_[0].scheduler(), agents_[1].scheduler()};
  std::size_t turn_ = 0;
};

}  // namespace bench
