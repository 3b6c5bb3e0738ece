// Members of a cluster that wait for each other (CLU-5): a wait that would never end is refused, no
// other one.
#include <array>
#include <memory>

#include "../cluster.hpp"

using namespace heist;
using namespace heist::model;

namespace {

/// A wait, in a task: whether it was refused.
bool is_refused(const Promise<int>& task) {
  try {
    check(task.get() == 7, "it ran");
    return false;
  } catch (const NotAllowedError&) {
    return true;
  }
}

}  // namespace

/// Each waits for what only the other one may run.
HEIST_BLOCKING_MODEL_PROGRAM(members_wait_for_each_other, 1) {
  LoopCluster cluster;
  std::array<bool, 2> refused{};
  std::array<Promise<int>, 2> tasks{Promise<int>::resolved(7), Promise<int>::resolved(7)};
  for (unsigned index = 0; index < 2; ++index) {
    cluster.bound(index).post([&, index] {
      tasks[index] = cluster.bound(1 - index).post_task([] { return 7; });
      refused[index] = is_refused(tasks[index]);
    });
  }
  spawn([&] {
    cluster.run_one(1);
    cluster.run_until_idle(1);
  });
  cluster.run_one(0);
  cluster.run_until_idle(0);
  join_all();
  for (unsigned index = 0; index < 2; ++index) cluster.run_until_idle(index);
  for (const auto& task : tasks) check(task.settled(), "what they waited for has run");
}

/// The first wait ends by the task that the second wait comes behind: the first member is free by
/// then, or about to be.
HEIST_BLOCKING_MODEL_PROGRAM(members_wait_in_turn, 2) {
  LoopCluster cluster;
  bool refused = false;
  cluster.bound(0).post([&] {
    refused |= is_refused(cluster.scheduler().post_task([&] {
      cluster.bound(1).post(
          [&] { refused |= is_refused(cluster.scheduler().post_task([] { return 7; })); });
      return 7;
    }));
  });
  spawn([&] {
    cluster.run_one(1);
    cluster.run_one(1);
  });
  cluster.run_one(0);
  cluster.run_one(0);
  join_all();
  check(!refused, "no wait is refused");
}

/// A promise goes as soon as its waiter has it, while the other member looks at that wait.
HEIST_BLOCKING_MODEL_PROGRAM(a_look_against_the_end_of_a_wait, 2) {
  LoopCluster cluster;
  auto pair = Promise<int>::with_resolver();
  cluster.bound(0).post([promise = std::make_shared<Promise<int>>(std::move(pair.promise))] {
    static_cast<void>(is_refused(*promise));
  });
  spawn([&] { static_cast<void>(cluster.core().waits().is_stuck(1)); });
  spawn([resolver = std::make_shared<Resolver<int>>(std::move(pair.resolver))] {
    resolver->resolve(7);
  });
  cluster.run_one(0);
  join_all();
}

/// A member waits for a task that it began, and that returned a promise: another member ends it.
HEIST_BLOCKING_MODEL_PROGRAM(a_member_waits_for_what_it_began, 2) {
  LoopCluster cluster;
  auto pair = Promise<int>::with_resolver();
  const auto task =
      cluster.scheduler().post_task([promise = std::move(pair.promise)] { return promise; });
  cluster.run_one(0);
  bool refused = false;
  cluster.bound(0).post([&] { refused = is_refused(task); });
  spawn([&] {
    pair.resolver.resolve(7);
    cluster.run_until_idle(1);
  });
  cluster.run_one(0);
  join_all();
  cluster.run_until_idle(0);
  check(task.settled() && !refused, "it waits, and is served");
}
