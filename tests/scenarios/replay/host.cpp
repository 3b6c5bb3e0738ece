#include "scenarios/replay/host.hpp"

#include <heist/event_loop.hpp>
#include <utility>

#include "scenarios/replay/cluster_host.hpp"

namespace heist::test {

using namespace detail;

namespace {

/// An event loop that its maker drives.
class LoopHost final : public Host {
 public:
  [[nodiscard]] Scheduler scheduler() const override { return loop_.scheduler(); }
  [[nodiscard]] bool run(std::function<void()> first) override {
    loop_.queue_task(TaskSource::user, std::move(first));
    loop_.advance(to_the_end);
    return loop_.pending() == 0;
  }
  void spend(std::chrono::milliseconds time) override { loop_.spend(time); }

 private:
  /// All the time there is: whatever is left after it can never happen.
  static constexpr auto to_the_end = std::chrono::nanoseconds::max();

  EventLoop loop_{{.clock = LoopClock::virtual_time}};
};

}  // namespace

std::unique_ptr<Host> make_host(const ReplayOptions& options) {
  if (options.stage == Stage::event_loop) return std::make_unique<LoopHost>();
  return std::make_unique<ClusterHost>(options);
}

}  // namespace heist::test
