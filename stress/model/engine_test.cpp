// The engine against known answers: which outcomes small programs have in C++, and that it finds
// what it is there to find. Names of the programs as in the literature on memory models.
#include <gtest/gtest.h>

#include <heist/detail/sync.hpp>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>

#include "engine/engine.hpp"
#include "engine/model.hpp"
#include "exploring.hpp"
#include "outcomes.hpp"

namespace heist::model {

using namespace detail;
namespace {

using std::memory_order;
using sync::acquire;
using sync::relaxed;
using sync::release;
using sync::seq_cst;

using Outcomes = std::set<std::string>;

template <memory_order store, memory_order load>
void store_buffering() {
  sync::atomic<int> x{0};
  sync::atomic<int> y{0};
  int a = 0;
  int b = 0;
  spawn([&] {
    x.store(1, store);
    a = y.load(load);
  });
  spawn([&] {
    y.store(1, store);
    b = x.load(load);
  });
  join_all();
  note({a, b});
}

TEST(Litmus, store_buffering_when_seq_cst_then_one_sees_the_other) {
  EXPECT_EQ(outcomes_of(store_buffering<seq_cst, seq_cst>), (Outcomes{"01", "10", "11"}));
}
TEST(Litmus, store_buffering_when_weaker_then_neither_may_see_the_other) {
  EXPECT_EQ(outcomes_of(store_buffering<release, acquire>), (Outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(outcomes_of(store_buffering<seq_cst, acquire>), (Outcomes{"00", "01", "10", "11"}));
}

template <memory_order store, memory_order load>
void message_passing() {
  sync::atomic<int> data{0};
  sync::atomic<int> flag{0};
  int seen = 0;
  int value = 0;
  spawn([&] {
    data.store(1, relaxed);
    flag.store(1, store);
  });
  spawn([&] {
    seen = flag.load(load);
    value = data.load(relaxed);
  });
  join_all();
  note({seen, value});
}

TEST(Litmus, message_passing_when_released_and_acquired_then_the_data_is_seen) {
  EXPECT_EQ(outcomes_of(message_passing<release, acquire>), (Outcomes{"00", "01", "11"}));
}
TEST(Litmus, message_passing_when_an_end_is_relaxed_then_the_data_may_be_missed) {
  EXPECT_EQ(outcomes_of(message_passing<relaxed, acquire>), (Outcomes{"00", "01", "10", "11"}));
  EXPECT_EQ(outcomes_of(message_passing<release, relaxed>), (Outcomes{"00", "01", "10", "11"}));
}

template <memory_order middle>
void release_sequence() {
  sync::atomic<int> data{0};
  sync::atomic<int> flag{0};
  int seen = 0;
  int value = 0;
  spawn([&] {
    data.store(1, relaxed);
    flag.store(1, release);
  });
  spawn([&] {
    int one = 1;
    flag.compare_exchange_strong(one, 2, middle, relaxed);
  });
  spawn([&] {
    seen = flag.load(acquire);
    value = data.load(relaxed);
  });
  join_all();
  if (seen == 2) note({value});
}

TEST(Litmus, release_sequence_when_a_relaxed_update_continues_it_then_the_data_is_seen) {
  EXPECT_EQ(outcomes_of(release_sequence<relaxed>), (Outcomes{"1"}));
}

template <memory_order store, memory_order load>
void independent_reads() {
  sync::atomic<int> x{0};
  sync::atomic<int> y{0};
  int a = 0, b = 0, c = 0, d = 0;
  spawn([&] { x.store(1, store); });
  spawn([&] { y.store(1, store); });
  spawn([&] {
    a = x.load(load);
    b = y.load(load);
  });
  spawn([&] {
    c = y.load(load);
    d = x.load(load);
  });
  join_all();
  note({a, b, c, d});
}

TEST(Litmus, independent_reads_when_seq_cst_then_both_readers_agree_on_the_order) {
  EXPECT_FALSE(outcomes_of(independent_reads<seq_cst, seq_cst>).contains("1010"));
}
TEST(Litmus, independent_reads_when_acquire_then_they_need_not) {
  EXPECT_TRUE(outcomes_of(independent_reads<release, acquire>).contains("1010"));
}

void coherent_reads() {
  sync::atomic<int> x{0};
  int a = 0;
  int b = 0;
  spawn([&] {
    x.store(1, relaxed);
    x.store(2, relaxed);
  });
  spawn([&] {
    a = x.load(relaxed);
    b = x.load(relaxed);
  });
  join_all();
  note({a, b});
}

TEST(Litmus, reads_of_one_object_when_relaxed_then_never_backwards) {
  EXPECT_EQ(outcomes_of(coherent_reads), (Outcomes{"00", "01", "02", "11", "12", "22"}));
}

/// "2+2W": two objects, each written by both threads, in opposite order.
template <memory_order store>
void crossed_writes() {
  sync::atomic<int> x{0};
  sync::atomic<int> y{0};
  spawn([&] {
    x.store(1, store);
    y.store(2, store);
  });
  spawn([&] {
    y.store(1, store);
    x.store(2, store);
  });
  join_all();
  note({x.load(relaxed), y.load(relaxed)});
}

TEST(Litmus, crossed_writes_when_not_seq_cst_then_both_first_ones_may_stay) {
  EXPECT_EQ(outcomes_of(crossed_writes<seq_cst>), (Outcomes{"12", "21", "22"}));
  EXPECT_EQ(outcomes_of(crossed_writes<release>), (Outcomes{"11", "12", "21", "22"}));
}

void counting() {
  sync::atomic<int> x{0};
  for (int i = 0; i < 3; ++i) {
    spawn([&] { x.fetch_add(1, relaxed); });
  }
  join_all();
  note({x.load(relaxed)});
}

TEST(Litmus, updates_when_relaxed_then_none_is_lost) {
  EXPECT_EQ(outcomes_of(counting), (Outcomes{"3"}));
}

/// The seq_cst update elsewhere orders nothing for relaxed neighbours: x86 would.
void update_is_no_fence() {
  sync::atomic<int> x{0};
  sync::atomic<int> y{0};
  sync::atomic<int> elsewhere{0};
  int a = 0;
  int b = 0;
  spawn([&] {
    x.store(1, relaxed);
    elsewhere.fetch_add(1, release);
    a = y.load(relaxed);
  });
  spawn([&] {
    y.store(1, relaxed);
    elsewhere.fetch_add(1, release);
    b = x.load(relaxed);
  });
  join_all();
  note({a, b});
}

TEST(Litmus, store_buffering_when_only_releasing_updates_lie_between_then_both_may_miss) {
  EXPECT_TRUE(outcomes_of(update_is_no_fence).contains("00"));
}

template <memory_order store>
void hand_over() {
  sync::atomic<int> flag{0};
  [[maybe_unused]] int data = 0;
  spawn([&] {
    data = 1;
    flag.store(1, store);
  });
  spawn([&] {
    if (flag.load(acquire) == 1) data = 2;
  });
  join_all();
}

TEST(Detection, plain_data_when_handed_over_then_no_race) {
  EXPECT_EQ(failure_of(hand_over<release>), "holds");
}
TEST(Detection, plain_data_when_the_edge_is_relaxed_then_a_race) {
  EXPECT_TRUE(failure_of(hand_over<relaxed>).starts_with("data race"));
}

template <bool reads_first>
void early_free() {
  auto* value = new int(1);
  sync::atomic<int> flag{0};
  spawn([&] {
    if (reads_first) static_cast<void>(*static_cast<volatile int*>(value));
    flag.store(1, release);
    if (!reads_first) static_cast<void>(*static_cast<volatile int*>(value));
  });
  while (flag.load(acquire) == 0) {
    join_all();
  }
  delete value;
  join_all();
}

void use_after_free() {
  auto* value = new int(1);
  sync::atomic<int> done{0};
  spawn([&, value] {
    delete value;
    done.store(1, release);
  });
  spawn([&, value] {
    if (done.load(acquire) == 1) *value = 2;
  });
  join_all();
}

TEST(Detection, memory_when_used_after_it_was_freed_then_found) {
  EXPECT_EQ(failure_of(early_free<true>), "holds");
  EXPECT_TRUE(failure_of(early_free<false>).starts_with("data race"));
  EXPECT_TRUE(failure_of(use_after_free).starts_with("use after free"));
}

void leak() {
  auto* volatile lost = new int(1);
  static_cast<void>(*lost);
}
void free_twice() {
  int* volatile value = new int(1);  // volatile: compilers refuse what they see through
  delete value;
  delete value;
}

TEST(Detection, memory_when_not_freed_or_freed_twice_then_found) {
  EXPECT_TRUE(failure_of(leak).starts_with("leak"));
  EXPECT_TRUE(failure_of(free_twice).starts_with("freed twice"));
}

/// Sleeps although the wake-up may have come between the look and the sleep: the futex looks again.
template <bool stores_first>
void sleeper() {
  sync::atomic<std::uint32_t> word{1};
  spawn([&] {
    if (stores_first) word.store(0, release);
    word.notify_one();
    if (!stores_first) word.store(0, release);
  });
  word.wait(1, acquire);
  join_all();
}

TEST(Detection, sleep_when_the_word_changes_before_the_wake_then_no_deadlock) {
  EXPECT_EQ(failure_of(sleeper<true>), "holds");
}
TEST(Detection, sleep_when_the_word_changes_after_the_wake_then_a_lost_wake_up) {
  EXPECT_TRUE(failure_of(sleeper<false>).starts_with("deadlock"));
}

void endless() {
  sync::atomic<int> x{0};
  while (x.load(relaxed) == 0) {
  }
}

TEST(Detection, loop_when_nothing_ends_it_then_found) {
  EXPECT_TRUE(failure_of(endless).starts_with("no end"));
}

thread_local int counter = 5;

void own_counter() {
  sync::atomic<int> step{0};
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      ++counter;
      const int mine = counter;
      step.fetch_add(1, relaxed);
      check(counter == mine && mine == 6, "thread-local variables are the thread's own");
    });
  }
  join_all();
  check(counter == 5, "also the first thread's");
}

TEST(Threads, thread_local_variables_when_threads_alternate_then_each_has_its_own) {
  EXPECT_EQ(failure_of(own_counter), "holds");
}

void alternating_exceptions() {
  sync::atomic<int> step{0};
  for (int i = 0; i < 2; ++i) {
    spawn([&, i] {
      try {
        throw std::out_of_range(std::to_string(i));
      } catch (const std::out_of_range& caught) {
        step.fetch_add(1, relaxed);
        try {
          throw;
        } catch (const std::out_of_range& again) {
          check(caught.what() == std::to_string(i) && &caught == &again,
                "each thread has its own exception in flight");
        }
      }
    });
  }
  join_all();
}

TEST(Threads, exceptions_when_threads_alternate_then_each_has_its_own) {
  EXPECT_EQ(failure_of(alternating_exceptions), "holds");
}

TEST(Search, failing_execution_when_replayed_then_fails_again) {
  const Outcome first = explore(hand_over<relaxed>);
  ASSERT_TRUE(first.failure);
  Plan plan;
  plan.search.kind = Search::Kind::replay;
  plan.search.trace = first.trace;
  const Outcome again = Engine::instance().explore(hand_over<relaxed>, plan);
  EXPECT_EQ(again.executions, 1U);
  EXPECT_TRUE(again.failure && again.failure->starts_with("data race"));
}

/// Needs two switches away from running threads.
void two_preemptions() {
  sync::atomic<int> x{0};
  spawn([&] {
    if (x.load(relaxed) != 0) return;
    if (x.load(seq_cst) == 1) check(x.load(seq_cst) != 2, "nobody interferes twice");
  });
  spawn([&] {
    x.store(1, relaxed);
    x.store(2, seq_cst);
  });
  join_all();
}

TEST(Search, bound_when_too_low_for_a_failure_then_it_is_not_found) {
  EXPECT_FALSE(explore(two_preemptions, 0).failure);
  EXPECT_TRUE(explore(two_preemptions, 2).failure);
  EXPECT_TRUE(explore(two_preemptions).failure);
}

TEST(Search, random_when_the_failure_is_easy_then_found) {
  Plan plan;
  plan.search.kind = Search::Kind::random;
  plan.executions = 1000;
  EXPECT_TRUE(Engine::instance().explore(hand_over<relaxed>, plan).failure);
}

}  // namespace
}  // namespace heist::model
