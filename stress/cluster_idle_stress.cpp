// A cluster of eight agents that has only far timers. The kernel's counters show that no agent runs
// (CLU-4, DLY-1).
//
// I1  Between two looks no agent's thread was switched to, nor took any CPU time.
// I2  The looks would notice an agent that polls.
// I3  The agents wake up when there is something to do.
// I4  Reserves that were needed before are gone: none of them runs, or waits for its time.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <heist/heist.hpp>
#include <latch>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::stress;

constexpr unsigned agents = 80;
constexpr std::string_view name = "resting";

/// What the kernel has counted of the agents' threads.
struct Activity {
  std::uint64_t switches = 0;
  std::uint64_t nanoseconds = 0;  ///< the time on a CPU
  unsigned threads = 0;

  friend bool operator==(const Activity&, const Activity&) = default;
};

std::uint64_t switches_of(const std::filesystem::path& task) {
  std::ifstream status(task / "status");
  std::uint64_t sum = 0;
  for (std::string key; status >> key;) {
    std::uint64_t value = 0;
    if (key.ends_with("ctxt_switches:") && status >> value) sum += value;
    status.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return sum;
}

Activity look() {
  Activity sum;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string comm;
    std::ifstream(task.path() / "comm") >> comm;
    if (!comm.starts_with(name)) continue;
    std::uint64_t on_cpu = 0;
    std::ifstream(task.path() / "schedstat") >> on_cpu;
    sum.switches += switches_of(task);
    sum.nanoseconds += on_cpu;
    ++sum.threads;
  }
  return sum;
}

/// Waits until two looks in a row are the same. Then the agents have taken over what was posted.
Activity settled() {
  Activity last = look();
  await(
      [&last] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        return std::exchange(last, look()) == last;
      },
      "I1: the agents never come to rest");
  return last;
}

void arm_far_timers(const Scheduler& scheduler, std::uint64_t count, Random& random) {
  for (std::uint64_t i = 0; i < count; ++i) {
    scheduler.post([] {}, {.delay = std::chrono::seconds(3600 + random.below(1'000'000))});
  }
}

/// Makes all agents block at once, so that each reserve's thread is started. Returns when these
/// threads have ended.
void use_reserves(const AgentCluster& cluster) {
  std::latch all_block(agents);
  std::vector<Promise<void>> ends;
  for (unsigned i = 0; i < agents; ++i) {
    ends.push_back(cluster.agent(i).scheduler().post_task(
        [&all_block] { blocking([&all_block] { all_block.arrive_and_wait(); }); }));
  }
  for (const auto& end : ends) end.get();
  await(
      [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return look().threads == agents;
      },
      "I4: a reserve does not end");
}

void poll_for_ever(const Agent& agent) {
  agent.scheduler().post([&agent] { poll_for_ever(agent); },
                         {.delay = std::chrono::milliseconds(5)});
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("cluster_idle_stress", {argv, static_cast<std::size_t>(argc)});
  const std::uint64_t timers = options.duration >= std::chrono::seconds(60) ? 1'000'000 : 20'000;
  Random random(options.seed);
  AgentCluster cluster(
      {.agents = agents, .name = std::string(name), .reserve_idle = std::chrono::milliseconds(1)});
  use_reserves(cluster);
  arm_far_timers(cluster.scheduler(), timers, random);
  for (unsigned i = 0; i < agents; ++i) arm_far_timers(cluster.agent(i).scheduler(), 100, random);

  const Activity before = settled();
  check(before.threads == agents, "not all agents' threads were found");
  std::this_thread::sleep_for(options.duration);
  const Activity after = look();
  std::printf("%llu timers, %u agents, %lld s: %llu context switches, %llu ns on a CPU\n",
              static_cast<unsigned long long>(timers), after.threads,
              static_cast<long long>(options.duration.count()),
              static_cast<unsigned long long>(after.switches - before.switches),
              static_cast<unsigned long long>(after.nanoseconds - before.nanoseconds));
  check(after == before, "I1: an idle agent ran");

  for (unsigned i = 0; i < agents; ++i) {
    check(cluster.scheduler().post_task([] { return 7; }).get() == 7, "I3");
  }
  poll_for_ever(cluster.agent(agents - 1));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const Activity polled = look();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  check(look() != polled, "I2: an agent that polls is not noticed");
}
