#include "heist/concurrent/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "support/threads.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A registration that says how often the registry let go of it.
struct TestRegistration : Registration {
  explicit TestRegistration(int number) : Registration(table), id(number) {}

  static TestRegistration& of(Registration& registration) {
    return static_cast<TestRegistration&>(registration);
  }
  static const TestRegistration& of(const Registration& registration) {
    return static_cast<const TestRegistration&>(registration);
  }
  static bool claim(Registration& registration) noexcept { return !of(registration).dead.load(); }
  static bool is_dead(const Registration& registration) noexcept {
    const TestRegistration& self = of(registration);
    if (self.when_asked) self.when_asked();
    return self.dead.load(std::memory_order_acquire);
  }
  static void forget(Registration& registration) noexcept {
    of(registration).forgotten.fetch_add(1, std::memory_order_relaxed);
  }
  static constexpr Ops table{&claim, &is_dead, &forget, Kind::task};

  int id;
  std::atomic<bool> dead{false};
  std::atomic<int> forgotten{0};
  std::function<void()> when_asked;  ///< called by the pruner, in the midst of its work
};

/// How many may be dead before the registry prunes; its prune_margin.
constexpr int margin = 16;
/// What it looks at at once, whenever so many more have died; its portion and its pace.
constexpr int portion = 64;
constexpr int pace = 8;

class RegistryTest : public testing::Test {
 protected:
  TestRegistration& add() {
    TestRegistration& made = all.emplace_back(static_cast<int>(all.size()));
    EXPECT_TRUE(registry->add(made));
    return made;
  }
  void add_many(int count) {
    for (int i = 0; i < count; ++i) add();
  }
  void kill(TestRegistration& registration) {
    registration.dead = true;
    registry->note_dead();
  }
  void kill(int first, int count) {
    for (int i = first; i < first + count; ++i) kill(all[static_cast<std::size_t>(i)]);
  }
  void note_dead(int times) {
    for (int i = 0; i < times; ++i) registry->note_dead();
  }
  std::vector<int> walk() {
    std::vector<int> ids;
    registry->walk([&](Registration& each) { ids.push_back(TestRegistration::of(each).id); });
    return ids;
  }
  std::vector<int> close() {
    std::vector<int> ids;
    registry->close([&](Registration& each) { ids.push_back(TestRegistration::of(each).id); });
    return ids;
  }
  [[nodiscard]] std::ptrdiff_t forgotten() const {
    return std::ranges::count_if(all, [](const auto& each) { return each.forgotten.load() == 1; });
  }
  void TearDown() override {
    registry.reset();
    for (const auto& each : all) EXPECT_EQ(each.forgotten.load(), 1) << "registration " << each.id;
  }

  std::deque<TestRegistration> all;
  std::unique_ptr<Registry> registry = std::make_unique<Registry>();
};

class RegistryWalk : public RegistryTest {};

// Rule: ABT-3
TEST_F(RegistryWalk, walk_when_empty_then_visits_nothing) { EXPECT_THAT(walk(), IsEmpty()); }

// Rule: ABT-3
TEST_F(RegistryWalk, walk_when_several_are_registered_then_visits_all_newest_first_each_time) {
  add_many(4);
  EXPECT_THAT(walk(), ElementsAre(3, 2, 1, 0));
  add();
  EXPECT_THAT(walk(), ElementsAre(4, 3, 2, 1, 0));
  EXPECT_EQ(forgotten(), 0);
}

// Rule: ABT-3
TEST_F(RegistryWalk, add_when_within_a_walk_then_it_is_for_the_next_one) {
  add_many(2);
  int visits = 0;
  registry->walk([&](Registration&) {
    if (++visits == 1) add();
  });
  EXPECT_EQ(visits, 2);
  EXPECT_THAT(walk(), ElementsAre(2, 1, 0));
}

class RegistryClose : public RegistryTest {};

// Rule: ABT-2
TEST_F(RegistryClose, close_when_several_are_registered_then_visits_all_and_lets_go_of_them) {
  add_many(3);
  EXPECT_THAT(close(), ElementsAre(2, 1, 0));
  EXPECT_EQ(forgotten(), 3);
}

// Rule: ABT-2
TEST_F(RegistryClose, add_when_closed_then_refused) {
  EXPECT_THAT(close(), IsEmpty());
  TestRegistration late(0);
  EXPECT_FALSE(registry->add(late));
  EXPECT_EQ(late.forgotten.load(), 0) << "it is still the caller's";
}

// Rule: ABT-2
TEST_F(RegistryClose, add_when_within_the_close_then_refused) {
  add();
  TestRegistration late(1);
  registry->close([&](Registration&) { EXPECT_FALSE(registry->add(late)); });
}

// Rule: ABT-5
TEST_F(RegistryClose, note_dead_when_closed_then_harmless) {
  add_many(2 * margin);
  close();
  note_dead(3 * margin);
  EXPECT_EQ(forgotten(), 2 * margin);
}

class RegistryAbt5 : public RegistryTest {};

// Rule: ABT-5
TEST_F(RegistryAbt5, note_dead_when_the_margin_is_reached_then_the_dead_are_let_go_of) {
  add_many(margin + 1);
  kill(0, margin - 1);
  EXPECT_EQ(forgotten(), 0);
  kill(margin - 1, 1);
  EXPECT_EQ(forgotten(), margin);
  EXPECT_THAT(walk(), ElementsAre(margin));
}

// Rule: ABT-5
TEST_F(RegistryAbt5, note_dead_when_the_newest_is_dead_then_it_stays_until_another_is_newer) {
  add_many(margin);
  kill(0, margin);
  EXPECT_EQ(forgotten(), margin - 1);
  EXPECT_THAT(walk(), ElementsAre(margin - 1));
  add_many(2 * margin);
  kill(margin, 2 * margin - 1);
  EXPECT_EQ(all[margin - 1].forgotten.load(), 1);
}

// Rule: ABT-5
TEST_F(RegistryAbt5, note_dead_when_the_dead_lie_anywhere_then_the_living_stay_in_order) {
  add_many(3 * margin);
  std::vector<int> living;
  for (int i = 3 * margin - 1; i >= 0; --i) {
    if (i % 3 == 0) living.push_back(i);
  }
  for (int i = 0; i < 3 * margin; ++i) {
    if (i % 3 != 0) all[static_cast<std::size_t>(i)].dead = true;
  }
  note_dead(margin + 2 * pace);
  add();
  living.insert(living.begin(), 3 * margin);
  auto left = walk();
  EXPECT_EQ(left.size(), living.size() + 1) << "but for the one that was the newest";
  std::erase(left, 3 * margin - 1);
  EXPECT_EQ(left, living);
}

// Rule: ABT-5
TEST_F(RegistryAbt5, registrations_when_many_come_and_go_then_the_dead_never_outnumber_the_margin) {
  add();
  for (int i = 1; i <= 2000; ++i) {
    kill(add());
    const auto held = static_cast<std::ptrdiff_t>(all.size()) - forgotten();
    ASSERT_LE(held, 1 + margin + 1);
  }
}

// Rule: ABT-5. A pruning walks past the living, so it waits until it is worth that.
TEST_F(RegistryAbt5, note_dead_when_many_live_then_pruned_only_when_half_as_many_are_dead) {
  constexpr int living = 1000;
  constexpr int deaths_of_a_pass = (living / portion + 1) * pace;
  add_many(living);
  add_many(margin);
  kill(living, margin);  // the first pass learns how many live
  for (int i = 0; i < deaths_of_a_pass; ++i) kill(add());
  const auto after_first = forgotten();
  EXPECT_EQ(after_first, margin - 1) << "those that came meanwhile are for the next one";
  for (int i = deaths_of_a_pass; i < living / 2; ++i) kill(add());
  EXPECT_EQ(forgotten(), after_first);
  for (int i = 0; i < margin + 2 * deaths_of_a_pass; ++i) kill(add());
  EXPECT_GE(forgotten(), after_first + living / 2);
}

// Rule: ABT-4, ABT-5
TEST_F(RegistryAbt5, note_dead_when_very_many_are_dead_then_lets_go_of_a_portion_at_a_time) {
  constexpr int dead = 20 * portion;
  add_many(dead + 1);
  for (int i = 0; i < dead; ++i) all[static_cast<std::size_t>(i)].dead = true;
  note_dead(margin - 1);
  for (int portions = 1; portions <= 20; ++portions) {
    registry->note_dead();
    EXPECT_EQ(forgotten(), portions * portion);
    note_dead(pace - 1);
    EXPECT_EQ(forgotten(), portions * portion);
  }
  EXPECT_THAT(walk(), ElementsAre(dead));
}

// Rule: ABT-5
TEST_F(RegistryAbt5,
       registrations_when_they_come_and_go_in_any_order_then_the_dead_are_in_proportion) {
  std::mt19937 random(1);
  std::vector<TestRegistration*> living;
  for (int step = 0; step < 60'000; ++step) {
    const bool is_growing = (step / 3000) % 2 == 0;
    if (living.empty() || random() % 4 < (is_growing ? 3 : 1)) {
      living.push_back(&add());
      continue;
    }
    std::swap(living[random() % living.size()], living.back());
    kill(*living.back());
    living.pop_back();
    if (step % 100 != 0) continue;
    const auto dead = std::ssize(all) - forgotten() - std::ssize(living);
    ASSERT_LE(dead, 3 * std::ssize(living) + 4 * (margin + 2 * pace));
  }
}

// Rule: ABT-2, ABT-5
TEST_F(RegistryAbt5, close_when_a_pass_is_half_done_then_nobody_goes_on_with_it) {
  add_many(4 * portion);
  kill(3 * portion - 1, margin);  // the first portion looks at these, the second at the next ones
  EXPECT_EQ(forgotten(), margin);
  kill(2 * portion, pace);
  EXPECT_EQ(forgotten(), margin + pace);
  EXPECT_EQ(std::ssize(close()), 4 * portion - margin - pace);
  note_dead(4 * pace);
  EXPECT_EQ(forgotten(), 4 * portion);
}

class RegistryGate : public RegistryTest {
 protected:
  static constexpr int first_dead = margin;
  static constexpr int newest = 2 * margin;

  /// Registers some that live, as many as a portion, and one more; kills those of the portion but
  /// for one, which makes a pruning.
  void prepare_pruning() {
    add_many(newest + 1);
    kill(first_dead, margin - 1);
  }
  /// One more death.
  void prune() { kill(newest - 1, 1); }
  [[nodiscard]] static std::vector<int> living() {
    std::vector<int> ids{newest};
    for (int i = first_dead - 1; i >= 0; --i) ids.push_back(i);
    return ids;
  }
  static bool is_killed(int id) { return id >= first_dead && id < newest; }
};

// Rule: ABT-5
TEST_F(RegistryGate, prune_when_a_walker_is_inside_then_it_is_left_to_a_later_one) {
  prepare_pruning();
  int visits = 0;
  registry->walk([&](Registration&) {
    if (++visits == 1) prune();
    EXPECT_EQ(forgotten(), 0);
  });
  EXPECT_EQ(visits, newest + 1);
  note_dead(pace);
  EXPECT_EQ(forgotten(), margin);
}

// Rule: ABT-5
TEST_F(RegistryGate, walk_when_a_pruner_is_inside_then_reaches_all_the_living_and_frees_nothing) {
  prepare_pruning();
  std::vector<int> seen;
  all[first_dead + margin / 2].when_asked = [&] {
    seen = walk();
    EXPECT_EQ(forgotten(), 0) << "the pruner frees when it leaves";
  };
  prune();
  EXPECT_EQ(forgotten(), margin);
  std::erase_if(seen, is_killed);
  EXPECT_EQ(seen, living());
}

// Rule: ABT-2, ABT-5
TEST_F(RegistryGate, close_when_a_pruner_is_inside_then_visits_the_living_and_all_are_let_go_of) {
  prepare_pruning();
  std::vector<int> seen;
  all[first_dead + margin / 2].when_asked = [&] {
    seen = close();
    EXPECT_EQ(forgotten(), 0) << "the pruner frees when it leaves";
  };
  prune();
  EXPECT_EQ(forgotten(), newest + 1);
  std::erase_if(seen, is_killed);
  EXPECT_EQ(seen, living());
}

// Rule: ABT-5
TEST_F(RegistryGate, walk_when_it_stands_on_a_node_that_a_pruner_unlinks_then_goes_on_behind_it) {
  prepare_pruning();
  std::vector<int> seen;
  // The pruner goes newest to oldest and asks the middle one; a walker starts there, stands still
  // on a dead node that the pruner then unlinks, and goes on once the pruner has left.
  std::thread walker;
  support::Gate standing;
  support::Gate pruned;
  all[first_dead + margin / 2].when_asked = [&] {
    walker = std::thread([&] {
      registry->walk([&](Registration& each) {
        seen.push_back(TestRegistration::of(each).id);
        if (seen.back() != first_dead + margin / 4) return;
        standing.open();
        pruned.wait();
      });
    });
    standing.wait();
  };
  prune();
  EXPECT_EQ(forgotten(), 0) << "a walker is inside";
  pruned.open();
  walker.join();
  EXPECT_EQ(forgotten(), margin);
  EXPECT_TRUE(std::ranges::is_sorted(seen, std::ranges::greater()));
  std::erase_if(seen, is_killed);
  EXPECT_EQ(seen, living());
}

/// The parameter is how many threads register and die.
class RegistryThreads : public testing::TestWithParam<int> {
 protected:
  static constexpr int each_thread = 3000;

  void register_and_die(std::deque<TestRegistration>& own) {
    for (int i = 0; i < each_thread; ++i) {
      TestRegistration& made = own.emplace_back(i);
      if (!registry.add(made)) made.forgotten = 1;
      if (i % 4 == 3) continue;
      made.dead.store(true, std::memory_order_release);
      registry.note_dead();
    }
  }

  Registry registry;
};
INSTANTIATE_TEST_SUITE_P(Threads, RegistryThreads, testing::Values(0, 1, 2, 4));

// Rule: ABT-2, ABT-5. Walks, prunings and the close meet; every registration is let go of once, and
// the close visits every living one.
TEST_P(RegistryThreads, close_when_threads_register_and_die_then_each_is_let_go_of_once) {
  std::vector<std::deque<TestRegistration>> all(static_cast<std::size_t>(GetParam()));
  std::vector<std::thread> threads;
  for (auto& own : all) threads.emplace_back([&] { register_and_die(own); });
  for (int i = 0; i < 50; ++i) {
    registry.walk([](Registration& each) { EXPECT_NE(each.ops, nullptr); });
  }
  std::vector<Registration*> visited;
  registry.close([&](Registration& each) { visited.push_back(&each); });
  for (auto& thread : threads) thread.join();
  std::ranges::sort(visited);
  EXPECT_TRUE(std::ranges::adjacent_find(visited) == visited.end());
  for (auto& own : all) {
    for (auto& each : own) ASSERT_EQ(each.forgotten.load(), 1);
  }
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
