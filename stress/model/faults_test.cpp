// The engine with faults that are put in on purpose: weakened ends, frozen threads, crashes.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <heist/detail/sync.hpp>
#include <map>
#include <string_view>

#include "engine/engine.hpp"
#include "engine/model.hpp"
#include "exploring.hpp"

namespace heist::model {

using namespace detail;
namespace {

using std::memory_order;
using sync::acquire;
using sync::relaxed;
using sync::release;
using sync::seq_cst;

template <memory_order order>
void counting() {
  sync::atomic<int> count{0};
  for (int i = 0; i < 2; ++i) {
    spawn([&] { count.fetch_add(1, order); });
  }
  join_all();
  check(count.load(relaxed) == 2, "no count is lost");
}

TEST(Weakening, update_when_torn_then_another_comes_between) {
  EXPECT_EQ(failure_of(counting<seq_cst>), "holds");
  EXPECT_EQ(failure_of(counting<sync::marked(seq_cst, sync::torn_mark)>),
            "broken promise: no count is lost");
}
template <memory_order store, memory_order load>
void hears_itself() {
  sync::atomic<int> word{0};
  word.store(1, store);
  check(word.load(load) == 1, "what was stored is read");
}

TEST(Weakening, store_or_load_when_mute_then_nothing_is_heard) {
  constexpr auto mute = sync::marked(relaxed, sync::mute_mark);
  EXPECT_EQ(failure_of(hears_itself<relaxed, relaxed>), "holds");
  EXPECT_EQ(failure_of(hears_itself<mute, relaxed>), "broken promise: what was stored is read");
  EXPECT_EQ(failure_of(hears_itself<relaxed, mute>), "broken promise: what was stored is read");
}
TEST(Weakening, end_when_named_with_what_it_loses_then_that_is_lost) {
  using sync::Weakening;
  EXPECT_EQ(Weakening::named("a:b:release").of(memory_order::acq_rel), acquire);
  EXPECT_EQ(Weakening::named("a:b:acquire").of(seq_cst), release);
  EXPECT_EQ(Weakening::named("a:b:seq_cst").of(seq_cst), memory_order::acq_rel);
  EXPECT_EQ(Weakening::named("a:b:torn").of(seq_cst), sync::marked(seq_cst, sync::torn_mark));
  EXPECT_EQ(Weakening::named("a:b:mute").of(seq_cst), sync::marked(seq_cst, sync::mute_mark));
  EXPECT_EQ(Weakening::named("a:b").of(seq_cst), relaxed);
}

/// Waits for the other thread's word, or does not.
template <bool waits>
void reads_a_word() {
  sync::atomic<int> word{0};
  spawn([&] {
    const Operation operation("write");
    word.store(1, seq_cst);
  });
  const Operation operation("read");
  while (word.load(seq_cst) == 0 && waits) {
  }
  join_all();
}

Outcome explore_frozen(void (*program)(), ThreadId thread, Epoch step) {
  Plan plan;
  plan.freeze = {thread, step};
  return Engine::instance().explore(program, plan);
}

TEST(Freezing, thread_when_another_waits_for_it_then_there_is_no_end) {
  const Outcome outcome = explore_frozen(reads_a_word<true>, 1, 1);
  EXPECT_TRUE(outcome.failure && outcome.failure->starts_with("no end"));
}
TEST(Freezing, thread_when_nobody_waits_then_the_others_end_and_its_operation_is_named) {
  const Outcome outcome = explore_frozen(reads_a_word<false>, 1, 1);
  EXPECT_FALSE(outcome.failure);
  EXPECT_TRUE(outcome.froze);
  EXPECT_EQ(outcome.frozen_in, (std::map<std::string_view, std::uint32_t>{{"write", 1}}));
}
TEST(Freezing, step_when_beyond_the_threads_end_then_nobody_is_frozen) {
  EXPECT_FALSE(explore_frozen(reads_a_word<false>, 1, 2).froze);
}

void gives_up_when_it_reads_one() {
  sync::atomic<int> word{0};
  spawn([&] { word.store(1, relaxed); });
  if (word.load(relaxed) == 1) std::abort();
  join_all();
}
void follows_null_when_it_reads_one() {
  sync::atomic<int> word{0};
  spawn([&] { word.store(1, relaxed); });
  int* volatile nowhere = nullptr;
  if (word.load(relaxed) == 1) *nowhere = 1;
  join_all();
}

TEST(Crash, program_when_it_crashes_in_one_execution_then_that_is_its_failure) {
  for (int again = 0; again < 2; ++again) {
    EXPECT_TRUE(failure_of(gives_up_when_it_reads_one).starts_with("crash: the program gave up"));
    EXPECT_EQ(failure_of(follows_null_when_it_reads_one), "crash: an invalid access");
  }
}

}  // namespace
}  // namespace heist::model
