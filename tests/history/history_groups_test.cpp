// HistoryChecker on tasks whose level changes, or that are aborted, hidden, suspended, or in a
// transfer of which nobody tells.
#include <gtest/gtest.h>

#include <cstdint>

#include "../../stress/support/history/history_checker.hpp"

namespace heist::support {
namespace {

using stress::Moment;
using stress::Note;
using stress::TaskId;
using stress::TaskTraits;

constexpr TaskTraits dynamic{.group = 7, .is_dynamic = true};
constexpr TaskTraits abortable{.group = 7};
constexpr TaskTraits hidden{.is_hidden = true};

/// A history whose notes may be made in any order.
class Told {
 public:
  explicit Told(stress::TransferRule rule = {}) : checker_(rule) {}

  void post(TaskId id, Moment end, TaskTraits traits = {}) {
    sweep_.add({end - 1, end, id, traits, Note::Kind::post});
  }
  void start(TaskId id, Moment pick_begin, Moment start, TaskTraits traits = {}) {
    sweep_.add({pick_begin, start, id, traits, Note::Kind::start});
  }
  void move(Moment begin, Moment end, std::uint8_t priority) {
    sweep_.add({begin, end, {.level = priority}, {.group = 7}, Note::Kind::move});
  }
  void drop(TaskId id, Moment at, TaskTraits traits) {
    sweep_.add({at, at, id, traits, Note::Kind::drop});
  }
  void suspend(Moment begin, Moment end) {
    sweep_.add({begin, begin + 1, {}, {}, Note::Kind::suspend});
    sweep_.add({end - 1, end, {}, {}, Note::Kind::resume});
  }
  std::uint64_t violations() {
    finish();
    EXPECT_TRUE(sweep_.exactly_once().holds()) << sweep_.exactly_once().text();
    return checker_.verdict().violating_pairs;
  }
  const stress::LevelVerdict& finish() {
    sweep_.finish([this](auto event, auto& task, Moment now) { checker_.see(event, task, now); });
    return checker_.verdict();
  }

 private:
  stress::HistorySweep sweep_;
  stress::HistoryChecker checker_;
};

constexpr TaskId chosen_task{.sequence = 1, .poster = 0, .level = 2};
constexpr TaskId other{.sequence = 2, .poster = 0, .level = 0};
constexpr TaskId high_task{.sequence = 3, .poster = 0, .level = 4};

/// A history in which `chosen_task` starts before a task whose group moves from one priority to
/// another.
Told passed_over(Moment move_begin, Moment move_end, std::uint8_t before, std::uint8_t after) {
  Told told;
  told.move(10, 11, before);
  told.post(other, 20, dynamic);
  told.post(chosen_task, 30);
  told.move(move_begin, move_end, after);
  told.start(chosen_task, 100, 110);
  told.start(other, 200, 210, dynamic);
  return told;
}

// Rule: CLU-1, PRI-3
TEST(HistoryGroups, check_when_moved_above_before_the_pick_then_violation) {
  EXPECT_EQ(passed_over(50, 60, 0, 2).violations(), 1U);
  EXPECT_EQ(passed_over(50, 60, 2, 0).violations(), 0U);
}

// Rule: CLU-1, PRI-3
TEST(HistoryGroups, check_when_a_move_overlaps_the_pick_then_excused) {
  for (const auto& [begin, end] : {std::pair<Moment, Moment>{50, 105}, {101, 105}, {105, 150}}) {
    EXPECT_EQ(passed_over(begin, end, 2, 2).violations(), 0U) << begin;
  }
  EXPECT_EQ(passed_over(111, 150, 2, 0).violations(), 1U) << "it had waited all the time";
}

// Rule: CLU-1, PRI-3
TEST(HistoryGroups, check_when_the_chosen_one_had_a_higher_level_during_its_pick_then_by_that) {
  const auto chosen_when_moved = [](Moment begin, Moment end) {
    Told told;
    told.move(10, 11, 2);
    told.post(other, 20, dynamic);
    told.post(chosen_task, 30);
    told.move(begin, end, 0);
    told.start(other, 100, 110, dynamic);
    told.start(chosen_task, 200, 210);
    return told.violations();
  };
  EXPECT_EQ(chosen_when_moved(50, 60), 1U);
  EXPECT_EQ(chosen_when_moved(50, 101), 0U);
  EXPECT_EQ(chosen_when_moved(105, 150), 0U);
}

// Rule: CLU-1, ABT-2
TEST(HistoryGroups, check_when_aborted_before_the_start_then_never_passed_over) {
  for (const auto& traits : {dynamic, abortable}) {
    Told told;
    const TaskId id = traits.is_dynamic ? other : high_task;
    told.move(10, 11, 2);
    told.post(id, 20, traits);
    told.post(chosen_task, 30);
    told.move(109, 115, stress::no_priority);
    told.start(chosen_task, 100, 110);
    told.drop(id, 300, traits);
    EXPECT_EQ(told.violations(), 0U);
    EXPECT_EQ(told.finish().dropped_unaborted, 0U);
  }
}

// Rule: ABT-1
TEST(HistoryGroups, check_when_dropped_without_an_abort_then_reported) {
  Told told;
  told.move(10, 11, 2);
  told.post(other, 20, dynamic);
  told.drop(other, 300, dynamic);
  EXPECT_EQ(told.finish().dropped_unaborted, 1U);
}

TEST(HistoryGroups, drop_when_told_before_the_post_then_done_with) {
  Told told;
  told.move(10, 11, stress::no_priority);
  told.drop(other, 15, dynamic);
  told.post(other, 20, dynamic);
  EXPECT_EQ(told.violations(), 0U);
}

// Rule: CLU-1
TEST(HistoryChecker, check_when_hidden_then_judged_but_never_passed_over) {
  Told passed;
  passed.post(high_task, 20, hidden);
  passed.post(chosen_task, 30);
  passed.start(chosen_task, 100, 110);
  passed.start(high_task, 200, 210, hidden);
  EXPECT_EQ(passed.violations(), 0U);
  Told passes;
  passes.post(high_task, 20);
  passes.post(chosen_task, 30, hidden);
  passes.start(chosen_task, 100, 110, hidden);
  passes.start(high_task, 200, 210);
  EXPECT_EQ(passes.violations(), 1U);
}

// Rule: CLU-1, SUS-1
TEST(HistoryChecker, check_when_all_is_suspended_during_the_pick_then_excused) {
  const auto violations = [](Moment begin, Moment end) {
    Told told;
    told.post(high_task, 20);
    told.post(chosen_task, 30);
    told.suspend(begin, end);
    told.start(chosen_task, 100, 110);
    told.start(high_task, 200, 210);
    return told.violations();
  };
  EXPECT_EQ(violations(50, 105), 0U);
  EXPECT_EQ(violations(102, 150), 0U);
  EXPECT_EQ(violations(50, 99), 1U);
  EXPECT_EQ(violations(111, 150), 1U);
}

/// Returns the violations when `passed` tasks of level 4 wait while one agent picks a task of
/// `level`, and another one picks `chosen_task`.
std::uint64_t violations_beside_a_pick(stress::TransferRule rule, std::uint32_t passed,
                                       std::uint8_t level, Moment begin, Moment end) {
  Told told(rule);
  for (std::uint32_t i = 0; i < passed; ++i) {
    const TaskId id{.sequence = 10 + i, .poster = 1, .level = 4};
    told.post(id, 20 + i);
    told.start(id, 200 + 10 * Moment{i}, 205 + 10 * Moment{i});
  }
  const TaskId picked{.sequence = 4, .poster = 0, .level = level};
  // The task must not be passed over itself.
  told.post(picked, begin < 100 ? 15 : 101);
  told.post(chosen_task, 80);
  told.start(picked, begin, end);
  told.start(chosen_task, 100, 110);
  return told.violations();
}

// Rule: CLU-1
TEST(TransferRule, check_when_a_pick_of_the_level_overlaps_then_so_many_are_excused) {
  constexpr stress::TransferRule two{.most = 2};
  EXPECT_EQ(violations_beside_a_pick(two, 2, 4, 90, 105), 0U);
  EXPECT_EQ(violations_beside_a_pick(two, 2, 4, 105, 150), 0U);
  EXPECT_EQ(violations_beside_a_pick(two, 3, 4, 90, 105), 1U);
  EXPECT_EQ(violations_beside_a_pick(two, 2, 4, 90, 99), 2U) << "it had ended";
  EXPECT_EQ(violations_beside_a_pick(two, 2, 4, 111, 150), 2U) << "it began later";
}

// Rule: CLU-1
TEST(TransferRule, check_when_a_pick_of_another_level_overlaps_then_only_if_it_may_hold_anything) {
  EXPECT_EQ(violations_beside_a_pick({.most = 2}, 2, 5, 90, 105), 2U);
  constexpr stress::TransferRule anything{.most = 2, .holds_anything = true};
  EXPECT_EQ(violations_beside_a_pick(anything, 3, 5, 90, 105), 0U);
  EXPECT_EQ(violations_beside_a_pick(anything, 3, 5, 90, 99), 3U);
}

}  // namespace
}  // namespace heist::support
