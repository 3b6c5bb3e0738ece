// History, when real threads tell it. Their cluster is a map under a lock.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <heist/detail/sync.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <thread>
#include <vector>

#include "../../stress/support/history/history.hpp"
#include "../../stress/support/stress_run.hpp"

namespace heist::support {

using namespace detail;
namespace {

using stress::CounterClock;
using stress::History;
using stress::HistoryLane;
using stress::Moment;
using stress::SteadyClock;
using stress::TaskId;

constexpr std::size_t posters = 2;
constexpr std::size_t agents = 3;
constexpr std::uint32_t tasks_each = 4 * stress::NoteRing::capacity;  // so rings are used again
constexpr std::size_t in_flight = 1000;

enum class Choice : std::uint8_t { highest, lowest };

/// A cluster that always picks from the highest level, or always from the lowest.
class LockedCluster {
 public:
  explicit LockedCluster(Choice choice) : choice_(choice) {}

  bool post(TaskId id) {
    const std::scoped_lock lock(mutex_);
    if (waiting_.size() >= in_flight) return false;
    waiting_.emplace(id.level, id);
    return true;
  }
  std::optional<TaskId> pick() {
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    const auto last = waiting_.lower_bound(waiting_.rbegin()->first);  // the oldest of its level
    return waiting_.extract(choice_ == Choice::highest ? last : waiting_.begin()).mapped();
  }

 private:
  const Choice choice_;
  std::mutex mutex_;
  std::multimap<std::uint8_t, TaskId> waiting_;
};

template <class Clock>
class ThreadedHistory {
 public:
  explicit ThreadedHistory(Choice choice) : cluster_(choice) {}

  void run() {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < posters; ++i) threads.emplace_back([this, i] { post(i); });
    for (std::size_t i = 0; i < agents; ++i) threads.emplace_back([this, i] { work(i); });
    // relaxed: a count that ends the loop; the joins order what was done.
    while (quiet_.load(sync::relaxed) < posters + agents) {
      if (!history_.check_some()) std::this_thread::yield();
    }
    threads.clear();
    history_.finish();
  }

  [[nodiscard]] const History<Clock>& history() const { return history_; }

 private:
  void post(std::size_t poster) {
    auto& lane = history_.lane(poster);
    stress::Random random(poster + 1);
    for (std::uint32_t i = 0; i < tasks_each; ++i) {
      const TaskId id{.sequence = i,
                      .poster = static_cast<std::uint16_t>(poster),
                      .level = static_cast<std::uint8_t>(random.below(stress::history_levels))};
      for (Moment begin = lane.before(); !note_if(lane, id, begin); begin = lane.before()) {
        lane.rest();
        std::this_thread::yield();
      }
    }
    lane.rest();
    quiet_.fetch_add(1, sync::relaxed);  // relaxed: a count.
  }
  bool note_if(HistoryLane<Clock>& lane, TaskId id, Moment begin) {
    if (!cluster_.post(id)) return false;
    lane.posted(id, begin);
    return true;
  }

  void work(std::size_t agent) {
    auto& lane = history_.lane(posters + agent);
    // relaxed: a count that ends the loop.
    while (ran_.load(sync::relaxed) < posters * tasks_each) {
      const Moment pick_begin = lane.before();
      if (const auto id = cluster_.pick()) {
        lane.started(*id, pick_begin);
        ran_.fetch_add(1, sync::relaxed);  // relaxed: a count.
      } else {
        lane.rest();
        std::this_thread::yield();
      }
    }
    lane.rest();
    quiet_.fetch_add(1, sync::relaxed);  // relaxed: a count.
  }

  LockedCluster cluster_;
  History<Clock> history_{posters + agents};
  sync::atomic<std::size_t> ran_{0};
  sync::atomic<std::size_t> quiet_{0};
};

template <class Clock>
class HistoryOfThreads : public testing::Test {};
using Clocks = testing::Types<CounterClock, SteadyClock>;
TYPED_TEST_SUITE(HistoryOfThreads, Clocks);

// Rule: CLU-1
TYPED_TEST(HistoryOfThreads, history_when_agents_keep_the_levels_then_no_violation) {
  ThreadedHistory<TypeParam> threaded(Choice::highest);
  threaded.run();
  const auto& history = threaded.history();
  history.print(stdout);
  EXPECT_EQ(history.verdict().tasks, posters * tasks_each);
  EXPECT_EQ(history.verdict().violating_pairs, 0U);
  EXPECT_TRUE(history.exactly_once().holds()) << history.exactly_once().text();
  EXPECT_GT(history.verdict().pairs_compared, posters * tasks_each);
}

// Rule: CLU-1
TYPED_TEST(HistoryOfThreads, history_when_agents_pick_the_lowest_then_violations) {
  ThreadedHistory<TypeParam> threaded(Choice::lowest);
  threaded.run();
  const auto& history = threaded.history();
  EXPECT_GT(history.verdict().violating_pairs, posters * tasks_each);
  EXPECT_TRUE(history.exactly_once().holds()) << history.exactly_once().text();
}

// Rule: CLU-2
TYPED_TEST(HistoryOfThreads, rank_error_when_picks_are_in_order_then_at_most_the_other_agents) {
  ThreadedHistory<TypeParam> threaded(Choice::highest);
  threaded.run();
  EXPECT_LT(threaded.history().rank_error().max_rank(), agents)
      << "each other agent has claimed one older task and not yet started it";
}

std::vector<Moment> begins_in(stress::NoteRing& ring) {
  std::vector<Moment> begins;
  ring.take([&](const stress::Note& note) { begins.push_back(note.begin); });
  return begins;
}

TEST(NoteRing, push_when_full_then_refused_until_its_reader_has_taken) {
  const auto ring = std::make_unique<stress::NoteRing>();
  std::vector<Moment> pushed(stress::NoteRing::capacity);
  std::iota(pushed.begin(), pushed.end(), Moment{1});
  for (int turn = 0; turn < 2; ++turn) {
    for (const Moment begin : pushed) ASSERT_TRUE(ring->try_push({.begin = begin}));
    EXPECT_FALSE(ring->try_push({.begin = 0}));
    EXPECT_EQ(begins_in(*ring), pushed);
    EXPECT_TRUE(begins_in(*ring).empty());
  }
}

// Nothing but the ring orders its two threads, so ThreadSanitizer sees each weakened end of its
// edges.
TEST(NoteRing, notes_when_handed_over_between_threads_then_all_in_order) {
  constexpr Moment notes = 4 * stress::NoteRing::capacity;
  const auto ring = std::make_unique<stress::NoteRing>();
  const std::jthread writer([&ring] {
    for (Moment begin = 0; begin < notes; ++begin) {
      while (!ring->try_push({.begin = begin})) std::this_thread::yield();
    }
  });
  Moment expected = 0;
  bool is_in_order = true;
  while (expected < notes) {
    ring->take([&](const stress::Note& note) { is_in_order &= note.begin == expected++; });
    std::this_thread::yield();
  }
  EXPECT_TRUE(is_in_order);
}

/// A lane without a history, and the notes that its reader gets.
struct Alone {
  CounterClock clock;
  HistoryLane<CounterClock> lane{clock};
  std::vector<stress::Note> notes;

  Moment floor() {
    const Moment now = clock.before();
    return lane.drain(now, [this](const stress::Note& note) { notes.push_back(note); });
  }
};

TEST(HistoryLane, floor_when_teller_is_awake_then_its_last_note) {
  const auto alone = std::make_unique<Alone>();
  const Moment begin = alone->lane.before();
  alone->lane.posted({}, begin);
  EXPECT_EQ(alone->floor(), begin);
  EXPECT_EQ(alone->floor(), begin);
  ASSERT_EQ(alone->notes.size(), 1U);
  EXPECT_GT(alone->notes[0].end, begin);
}

TEST(HistoryLane, floor_when_teller_rests_then_now_until_it_wakes) {
  const auto alone = std::make_unique<Alone>();
  const Moment first = alone->floor();
  EXPECT_GT(first, 0U);
  EXPECT_GT(alone->floor(), first);
  const Moment last = alone->floor();
  EXPECT_GT(alone->lane.before(), last);
  EXPECT_EQ(alone->floor(), last);
  alone->lane.rest();
  EXPECT_GT(alone->floor(), last);
}

TEST(HistoryLane, floor_when_a_batch_is_noted_then_still_before_the_pick) {
  const auto alone = std::make_unique<Alone>();
  const Moment pick_begin = alone->lane.before();
  alone->lane.transferred({}, alone->lane.before());
  EXPECT_LE(alone->floor(), pick_begin);
}

}  // namespace
}  // namespace heist::support
