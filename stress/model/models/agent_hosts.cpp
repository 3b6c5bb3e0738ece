// HOST: an agent that sleeps in a host (AgentHost) leaves no task to nobody.
#include <poll.h>

#include <functional>
#include <heist/agent_host.hpp>
#include <utility>

#include "../cluster.hpp"
#include "../descriptors.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

/// A host with one event, which comes when the agent sleeps for the first time.
class OneEvent final : public AgentHost {
 public:
  enum class Says : std::uint8_t { awake, nothing };

  explicit OneEvent(std::function<void()> event, Says says = Says::awake)
      : event_(std::move(event)), says_(says) {}

  void begin(int wakeup_fd) override { wakeup_ = wakeup_fd; }
  void poll() noexcept override {}
  void wait() noexcept override {
    if (const auto event = std::exchange(event_, nullptr)) {
      if (says_ == Says::awake) end_wait();
      return event();
    }
    pollfd entry{.fd = wakeup_, .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&entry, 1, -1));
  }
  void end() noexcept override {}

 private:
  std::function<void()> event_;
  const Says says_;
  int wakeup_ = -1;
};

/// As the thread of an agent that has this host, until a stop.
void run_in(AgentHost& host, EventLoop& loop) {
  LoopCore& core = Access::core(loop);
  const DriveScope driving(core);
  core.assert_agent();
  core.begin_host(host);
  core.run();
  core.end_host(host);
}

/// Opens once.
class Gate {
 public:
  void open() {
    open_.store(1, sync::release);
    wake_all_on_word(open_);
  }
  void wait() {
    while (open_.load(sync::acquire) == 0) wait_on_word(open_, 0U, {});
  }

 private:
  sync::atomic<std::uint32_t> open_{0};
};

/// The event of the first agent waits for a task, which the second one has to run unless the first
/// one has done so before.
struct EventThatWaits {
  explicit EventThatWaits(OneEvent::Says says = OneEvent::Says::awake,
                          const EventLoopOptions& options = on_virtual_clock())
      : cluster(2, options), host([this] { wait_and_stop(); }, says) {}
  void post(const PostTaskOptions& options = {}) {
    cluster.scheduler().post([this] { ran.open(); }, options);
  }
  void wait_and_stop() {
    if (posts_itself) post();
    ran.wait();
    cluster.stop();
  }
  void run() {
    spawn([this] { cluster.run(1); });
    run_in(host, cluster.loop(0));
    join_all();
  }

  const ModelTime time{};
  const Descriptors descriptors{};
  LoopCluster cluster;
  Gate ran;
  bool posts_itself = false;
  OneEvent host;
};

}  // namespace

HEIST_BLOCKING_MODEL_PROGRAM(an_event_leaves_what_others_post_to_another_agent, 1) {
  EventThatWaits event;
  spawn([&] { event.post(); });
  event.run();
}

HEIST_BLOCKING_MODEL_PROGRAM(an_event_leaves_what_it_posts_to_another_agent, 1) {
  EventThatWaits event;
  event.posts_itself = true;
  event.run();
}

/// The agent may be the watcher when the event comes.
HEIST_BLOCKING_MODEL_PROGRAM(an_event_leaves_delays_to_another_agent, 1) {
  EventThatWaits event(OneEvent::Says::awake, on_model_time());
  event.post({.delay = std::chrono::milliseconds(1)});
  event.run();
}

/// Without end_wait() the agent counts as asleep, and who posts may leave the task to it.
HEIST_BLOCKING_MODEL_PROGRAM(naive_event_within_a_sleep, 1) {
  EventThatWaits event(OneEvent::Says::nothing);
  spawn([&] { event.post(); });
  event.run();
}

/// A task for this agent alone comes while it sleeps in the host, or is about to, or at its event.
HEIST_BLOCKING_MODEL_PROGRAM(a_bound_post_wakes_a_hosted_agent, 2) {
  const ModelTime time;
  const Descriptors descriptors;
  LoopCluster cluster;
  OneEvent host([] {});
  spawn([&] { cluster.bound(0).post([&] { cluster.loop(0).stop(); }); });
  run_in(host, cluster.loop(0));
  join_all();
}

/// The same for an agent of no cluster.
HEIST_BLOCKING_MODEL_PROGRAM(a_post_wakes_a_hosted_loop, 1) {
  const ModelTime time;
  const Descriptors descriptors;
  EventLoop loop(on_virtual_clock());
  OneEvent host([] {});
  const Scheduler scheduler = loop.scheduler();
  int ran = 0;
  for (int at = 0; at < 2; ++at) {
    spawn([&] {
      scheduler.post([&] {
        if (++ran == 2) loop.stop();
      });
    });
  }
  run_in(host, loop);
  join_all();
}
