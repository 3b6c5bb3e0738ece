// CLU-1: an agent does not lower the hint by what another one announced.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

/// Agent 1 announces level 0. Agent 0, which has a task of its own at level 1, gets that announcement from
/// announce(1), and has searched above level 1 only.
HEIST_MODEL_PROGRAM(a_foreign_announcement, 3) {
  ModelClock clock;
  Cluster cluster(clock);
  std::array<CountedTask, 2> low;
  std::array<CountedTask, 2> middle;
  CountedTask passed;
  Urgent urgent(cluster, 1);
  cluster.post(passed, 2);
  check(cluster.pick(0) == &passed, "it is there");
  for (unsigned agent = 0; agent < 2; ++agent) {
    cluster.post_bound(agent, low[agent], 0);
    cluster.post_bound(agent, middle[agent], 1);
  }
  const auto pick_twice = [&](unsigned agent) {
    for (int i = 0; i < 2; ++i) {
      const bool was_posted = urgent.is_posted();
      if (cluster.pick(agent) == &low[agent]) urgent.check_not_overtaken(0, was_posted);
    }
  };
  spawn([&] { urgent.post(); });
  spawn([&] { pick_twice(1); });
  pick_twice(0);
  join_all();
}
