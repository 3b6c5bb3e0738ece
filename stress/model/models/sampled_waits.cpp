// Since when sampled tasks wait (MET-2): the places of the table, which tasks share.
#include <array>
#include <heist/detail/scheduler_task.hpp>
#include <heist/detail/sync.hpp>

#include "../support.hpp"
#include "task/sampled_waits.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

void do_nothing(LoopNode& /*task*/, LoopCore& /*loop*/) noexcept {}
void drop_nothing(LoopNode& /*task*/) noexcept {}
constexpr LoopNodeOps ops{LoopNodeKind::task, &do_nothing, &drop_nothing};

/// A task that one thread posts and another one holds afterwards.
struct Posted {
  SchedulerTask task{ops, false};
  sync::atomic<bool> is_published{false};
};

/// Every task has the same place.
using OnePlace = SampledWaitsOf<1>;

void post(OnePlace& waits, Posted& posted, OnePlace::Time now) {
  posted.task.is_sampled = waits.try_begin(posted.task, now);
  posted.is_published.store(true, std::memory_order_release);
}

/// Called by the holder: takes the task if it has come. Returns since when it waits, or zero.
OnePlace::Time take(OnePlace& waits, Posted& posted, int times = 1) {
  if (!posted.is_published.load(std::memory_order_acquire) || !posted.task.is_sampled) return 0;
  OnePlace::Time since = 0;
  for (; times > 0; --times) since = waits.end(posted.task);
  return since;
}

/// Two posters, and a holder that ends each sampled task so many times.
void share_a_place(int ends_of_the_first) {
  OnePlace waits;
  std::array<Posted, 2> posted;
  spawn([&] { post(waits, posted[0], 1); });
  spawn([&] { post(waits, posted[1], 2); });
  const auto first = take(waits, posted[0], ends_of_the_first);
  const auto second = take(waits, posted[1]);
  check(first == 0 || first == 1, "the first task finds its own time");
  check(second == 0 || second == 2, "the second task finds its own time");
  if (!join_all()) return;
  if (first == 0 && posted[0].task.is_sampled)
    check(waits.end(posted[0].task) == 1, "what still waits keeps its place");
  if (second == 0 && posted[1].task.is_sampled)
    check(waits.end(posted[1].task) == 2, "what still waits keeps its place");
  check(!waits.oldest_at(2), "every place is free in the end");
}

}  // namespace

/// Whoever finds the place taken goes without one, and nobody finds another task's time.
HEIST_MODEL_PROGRAM(sampled_waits_share_a_place, 2) { share_a_place(1); }

/// A task that frees its place twice frees the next one's.
HEIST_MODEL_PROGRAM(naive_sampled_wait_ended_twice, 2) { share_a_place(2); }
