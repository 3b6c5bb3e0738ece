// Heist: one agent, with the default options unless a subject says otherwise.
#pragma once

#include <heist/agent.hpp>
#include <utility>

namespace bench {

class HeistSubject {
 public:
  static constexpr const char* name = "heist";

  explicit HeistSubject(const heist::AgentOptions& options = {}) : agent_(options) {}
  template <class F>
  void post(F&& f) {
    scheduler_.post(std::forward<F>(f));
  }
  [[nodiscard]] heist::Agent& agent() noexcept { return agent_; }
  [[nodiscard]] const heist::Scheduler& scheduler() const noexcept { return scheduler_; }

 private:
  heist::Agent agent_;
  heist::Scheduler scheduler_ = agent_.scheduler();
};

}  // namespace bench
