// Starts of a journal's jobs when memory runs out.
#include <functional>
#include <heistd/start_queue.hpp>
#include <list>
#include <memory>
#include <new>
#include <vector>

#include "heistd/no_memory.hpp"
#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

/// A queue of jobs that start as the test says. They keep their places until it gives them back.
class StartsWithoutMemory : public testing::Test {
 protected:
  /// Has so many further jobs ask; each of them does this when it starts.
  void ask(std::size_t count, const std::function<void()>& at_start = [] {}) {
    for (; count > 0; --count) {
      jobs.push_back(std::make_shared<Job>(id_of(static_cast<int>(jobs.size())), kind, 0));
      jobs.back()->fixed_priority = heist::TaskPriority::user_visible;
      jobs.back()->unfinished =
          std::make_unique<Job::Unfinished>(heist::TaskPriority::user_visible);
      queue.ask(jobs.back(), [this, at_start](StartQueue::Places place) {
        at_start();
        places.push_back(std::move(place));
      });
    }
  }

  void give_back(std::size_t count) {
    for (; count > 0; --count) {
      const auto place = std::move(places.front());
      places.pop_front();
    }
  }

  const KindTable kinds = builtin_kinds();
  const Kind& kind = *kinds.find("digest");
  std::vector<std::shared_ptr<Job>> jobs;
  StartQueue queue;
  std::list<StartQueue::Places> places;

  static constexpr auto most = StartQueue::most_at_a_time;
};

TEST_F(StartsWithoutMemory, start_when_it_throws_then_it_has_no_place_and_the_next_one_starts) {
  ask(most);
  ask(1, [] { throw std::bad_alloc(); });
  ask(most + 2);
  ASSERT_EQ(places.size(), most);
  give_back(1);
  EXPECT_EQ(places.size(), most);
  give_back(most);
  EXPECT_EQ(places.size(), most);
  give_back(1);
  EXPECT_EQ(places.size(), most);
  give_back(1);
  EXPECT_EQ(places.size(), most - 1);
}

TEST_F(StartsWithoutMemory, start_when_there_is_none_for_its_place_then_that_is_counted_once) {
  ask(2 * most + 2);
  {
    const NoMemory none(0, NoMemory::Fails::once);
    give_back(1);
    EXPECT_TRUE(none.struck());
  }
  EXPECT_EQ(places.size(), most);
  give_back(most);
  EXPECT_EQ(places.size(), most);
}

class KeptJobsWithoutMemory : public KeptJobs {
 protected:
  /// A job of which the n-th allocation fails that the network makes for its start; true when that
  /// made a difference.
  bool start_without_memory(std::size_t successes) {
    const auto id = post_kept("/jobs/digest");
    loop.run_until_idle();
    bool struck = false;
    {
      const NoMemory none(successes, NoMemory::Fails::once);
      try {
        run_network();
      } catch (const std::bad_alloc&) {  // the server goes on with the next event
      }
      struck = none.struck();
    }
    for (int turn = 0; turn < 4; ++turn) {
      run_kept();
      EXPECT_NE(state_of(id), "aborted") << successes;
      loop.advance(std::chrono::seconds(10));
    }
    while (!HasFailure() &&
           !is_end(stored(id).state)) {  // what the journal could not be asked for is asked later
      network.restart();
      network.run_one();
      loop.advance(std::chrono::seconds(10));
      loop.run_until_idle();
    }
    run_kept();
    EXPECT_EQ(state_of(id), to_string(heistd::state_of(stored(id)))) << successes;
    return struck;
  }
};

// Rule: JRN-3
TEST_F(KeptJobsWithoutMemory, start_when_the_network_has_none_then_the_job_starts_later) {
  std::size_t successes = 0;
  while (start_without_memory(successes)) ++successes;
  EXPECT_GT(successes, 0U);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

}  // namespace
}  // namespace heistd
