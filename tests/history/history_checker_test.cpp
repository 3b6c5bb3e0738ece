// HistoryChecker and HistorySweep on histories made by hand. Each condition of CLU-1 is missed by
// one unit of time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "told_history.hpp"

namespace heist::support {
namespace {

using stress::HistoryEvent;
using stress::Moment;
using stress::never;
using stress::Note;
using stress::TaskId;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr TaskId low{.sequence = 1, .poster = 0, .level = 2};
constexpr TaskId high{.sequence = 2, .poster = 1, .level = 3};

/// A low task, which agent 0 picks and starts from 100 to 110, and a high one of agent 1.
std::vector<ToldTask> low_and_high(Moment high_post_end, Moment high_pick_begin) {
  ToldTask chosen{.record = {10, 20, 100, 110, low}, .agent = 0, .transfers = {}};
  ToldTask passed{
      .record = {30, high_post_end, high_pick_begin, 130, high}, .agent = 1, .transfers = {}};
  return {chosen, passed};
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_higher_task_waits_all_through_a_pick_then_violation) {
  const auto levels = judge(low_and_high(99, 111)).levels;
  EXPECT_EQ(levels.violating_pairs, 1U);
  EXPECT_EQ(levels.pairs_excused, 0U);
  ASSERT_EQ(levels.examples.size(), 1U);
  EXPECT_EQ(
      levels.examples[0].text(),
      "CLU-1 violated: chosen 0/1 of level 2: post 10..20, pick begins 100, starts 110; "
      "passed over 1/2 of level 3: post 30..99, pick begins 111, starts 130, waited at level 3");
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_higher_post_ends_as_the_pick_begins_then_excused) {
  const auto levels = judge(low_and_high(100, 111)).levels;
  EXPECT_EQ(levels.violating_pairs, 0U);
  EXPECT_EQ(levels.pairs_excused, 1U);
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_pick_of_higher_task_begins_as_the_other_starts_then_excused) {
  const auto levels = judge(low_and_high(99, 110)).levels;
  EXPECT_EQ(levels.violating_pairs, 0U);
  EXPECT_EQ(levels.pairs_excused, 1U);
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_levels_are_equal_then_not_compared) {
  auto tasks = low_and_high(99, 111);
  tasks[1].record.id.level = low.level;
  const auto levels = judge(tasks).levels;
  EXPECT_EQ(levels.violating_pairs, 0U);
  EXPECT_EQ(levels.pairs_compared, 0U);
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_waiting_task_is_lower_then_compared_and_right) {
  auto tasks = low_and_high(99, 111);
  tasks[1].record.id.level = low.level - 1;
  const auto levels = judge(tasks).levels;
  EXPECT_EQ(levels.violating_pairs, 0U);
  EXPECT_EQ(levels.pairs_compared, 1U);
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_higher_task_is_never_picked_then_violation_and_lost) {
  auto tasks = low_and_high(99, never);
  tasks[1].record.start = never;
  const Judged judged = judge(tasks);
  EXPECT_EQ(judged.levels.violating_pairs, 1U);
  EXPECT_EQ(judged.once.never_started, 1U);
  EXPECT_THAT(judged.levels.examples.at(0).text(), HasSubstr("pick begins never"));
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_higher_task_is_in_transfer_during_the_pick_then_excused) {
  for (const ToldTransfer transfer : {ToldTransfer{50, 100, 1}, ToldTransfer{99, 105, 1},
                                      ToldTransfer{105, 120, 1}, ToldTransfer{50, 120, 1}}) {
    auto tasks = low_and_high(40, 125);
    tasks[1].transfers = {transfer};
    EXPECT_EQ(judge(tasks).levels.violating_pairs, 0U) << transfer.begin << ".." << transfer.end;
  }
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_transfer_ends_before_or_begins_after_the_pick_then_violation) {
  for (const ToldTransfer transfer : {ToldTransfer{50, 99, 1}, ToldTransfer{111, 120, 1}}) {
    auto tasks = low_and_high(40, 125);
    tasks[1].transfers = {transfer};
    EXPECT_EQ(judge(tasks).levels.violating_pairs, 1U) << transfer.begin << ".." << transfer.end;
  }
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_transfers_of_two_thieves_seem_to_overlap_then_waits_after_both) {
  // With the slack of a steady clock the first transfer seems to end after the second has begun.
  auto tasks = low_and_high(40, 125);
  tasks[1].transfers = {{50, 90, 1}, {80, 105, 0}};
  EXPECT_EQ(judge(tasks).levels.violating_pairs, 0U);
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_task_starts_before_its_post_returns_then_it_never_waits) {
  auto tasks = low_and_high(200, 40);
  tasks[1].record.start = 50;
  const Judged judged = judge(tasks);
  EXPECT_EQ(judged.levels.pairs_excused, 0U);
  EXPECT_EQ(judged.levels.violating_pairs, 0U);
  EXPECT_TRUE(judged.once.holds());
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_threads_tell_in_any_order_then_same_verdict) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_EQ(judge(low_and_high(99, 111), seed).levels.violating_pairs, 1U);
    EXPECT_EQ(judge(low_and_high(100, 111), seed).levels.violating_pairs, 0U);
  }
}

// Rule: CLU-1
TEST(HistoryChecker, examples_when_many_violations_then_the_first_few_are_kept) {
  auto tasks = low_and_high(50, 1000);
  tasks[1].record.start = 1001;
  for (std::uint32_t i = 0; i < 20; ++i) {
    const Moment begin = 200 + i * Moment{10};
    tasks.push_back(
        {.record = {10, 21 + i, begin, begin + 5, {100 + i, 0, 0}}, .agent = 0, .transfers = {}});
  }
  const auto levels = judge(tasks).levels;
  EXPECT_EQ(levels.violating_pairs, 21U);
  ASSERT_EQ(levels.examples.size(), stress::HistoryChecker::most_examples);
  EXPECT_EQ(levels.examples[0].chosen.id, low);
  EXPECT_EQ(levels.examples.back().passed.start, 1001U);
}

struct Heard {
  std::vector<HistoryEvent> events;
  auto listener() {
    return [this](HistoryEvent event, stress::TrackedTask&, Moment) { events.push_back(event); };
  }
};

TEST(HistorySweep, advance_when_floor_is_reached_then_only_what_came_before_it) {
  stress::HistorySweep sweep;
  Heard heard;
  sweep.add({100, 110, low, {}, Note::Kind::start});
  sweep.add({10, 105, low, {}, Note::Kind::post});
  sweep.advance(105, heard.listener());
  EXPECT_THAT(heard.events, ElementsAre(HistoryEvent::pick_begins));
  sweep.advance(106, heard.listener());
  EXPECT_THAT(heard.events, ElementsAre(HistoryEvent::pick_begins, HistoryEvent::posted));
}

TEST(HistorySweep, window_when_tasks_come_and_go_then_it_holds_those_that_wait) {
  stress::HistorySweep sweep;
  Heard heard;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const TaskId id{.sequence = i, .poster = 0, .level = 0};
    const Moment at = 10 * Moment{i};
    sweep.add({at, at + 1, id, {}, Note::Kind::post});
    sweep.add({at + 2, at + 3, id, {}, Note::Kind::start});
    sweep.advance(at + 4, heard.listener());
  }
  EXPECT_EQ(sweep.widest_window(), 1U);
  EXPECT_EQ(sweep.exactly_once().started, 10'000U);
}

TEST(ExactlyOnce, history_when_a_task_starts_again_then_not_once) {
  auto tasks = low_and_high(99, 100);
  tasks.push_back(tasks[0]);
  tasks.back().record.post_begin = never;
  const auto in_window = judge(tasks).once;
  EXPECT_EQ(in_window.started_again + in_window.started_unposted, 1U);
  tasks.back().record.pick_begin = 1000;
  tasks.back().record.start = 1010;
  const auto later = judge(tasks).once;
  EXPECT_EQ(later.started_again + later.started_unposted, 1U);
  EXPECT_FALSE(later.holds());
  EXPECT_EQ(later.example, low);
}

TEST(ExactlyOnce, history_when_a_started_task_was_never_posted_then_not_once) {
  auto tasks = low_and_high(99, 100);
  tasks[0].record.post_begin = never;
  const auto once = judge(tasks).once;
  EXPECT_EQ(once.started_unposted, 1U);
  EXPECT_THAT(once.text(), HasSubstr("task 0/1 of level 2"));
}

TEST(ExactlyOnce, history_when_a_task_is_posted_again_then_not_once) {
  stress::HistorySweep sweep;
  sweep.add({10, 20, low, {}, Note::Kind::post});
  sweep.add({30, 40, low, {}, Note::Kind::post});
  EXPECT_EQ(sweep.exactly_once().posted_again, 1U);
}

TEST(ExactlyOnce, note_when_its_moment_has_gone_by_then_not_valid) {
  stress::HistorySweep sweep;
  Heard heard;
  sweep.advance(100, heard.listener());
  sweep.add({100, 110, low, {}, Note::Kind::post});
  EXPECT_TRUE(sweep.exactly_once().holds());
  sweep.add({99, 110, low, {}, Note::Kind::start});
  EXPECT_EQ(sweep.exactly_once().late_notes, 1U);
}

}  // namespace
}  // namespace heist::support
