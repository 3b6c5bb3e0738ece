// Executions that are easily left out of the search, and races that are easily taken for ordered:
// with the order of their steps, an answer would come out that C++ does not give.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <initializer_list>
#include <set>
#include <string>

#include "engine/engine.hpp"
#include "engine/model.hpp"
#include "exploring.hpp"
#include "outcomes.hpp"

namespace heist::model {

using namespace detail;
namespace {

using sync::acq_rel;
using sync::acquire;
using sync::relaxed;
using sync::release;
using sync::seq_cst;

/// Writes behind its release, with no further step between that and its end.
void writes_behind_its_release() {
  sync::atomic<int> flag{0};
  [[maybe_unused]] int data = 0;
  spawn([&] {
    flag.store(1, release);
    data = 1;
  });
  spawn([&] {
    if (flag.load(acquire) == 1) data = 2;
  });
  join_all();
}

struct Counted {
  sync::atomic<int> owners{2};
  int value = 0;
};

/// Looks at what it has given up.
void looks_behind_its_drop() {
  auto* shared = new Counted;
  for (int i = 0; i < 2; ++i) {
    spawn([shared] {
      if (shared->owners.fetch_sub(1, acq_rel) == 1) return delete shared;
      static_cast<void>(*static_cast<volatile int*>(&shared->value));
    });
  }
  join_all();
}

TEST(Races, access_when_behind_the_release_then_not_ordered_by_it) {
  EXPECT_TRUE(failure_of(writes_behind_its_release).starts_with("data race"));
  EXPECT_TRUE(failure_of(looks_behind_its_drop).starts_with("data race"));
}

template <std::size_t bytes>
void free_against_write() {
  auto* block = new char[bytes];
  spawn([=] { *static_cast<volatile char*>(block + bytes / 2) = 1; });
  spawn([=] { delete[] block; });
  join_all();
}

TEST(Races, free_when_another_thread_writes_then_found_in_blocks_of_any_size) {
  EXPECT_TRUE(failure_of(free_against_write<256>).starts_with("data race"));
  EXPECT_TRUE(failure_of(free_against_write<4096>).starts_with("data race"));
}

/// The second thread sees the flag, but not the data, and only then the first one sees the data.
void seq_cst_loads_alone() {
  sync::atomic<int> data{0};
  sync::atomic<int> flag{0};
  int first = 0, flagged = 0, second = 0;
  spawn([&] {
    data.store(1, relaxed);
    flag.store(1, relaxed);
  });
  spawn([&] { first = data.load(seq_cst); });
  spawn([&] {
    flagged = flag.load(relaxed);
    second = data.load(seq_cst);
  });
  join_all();
  note({first, flagged, second});
}

TEST(Executions, seq_cst_loads_when_the_stores_are_relaxed_then_their_order_is_explored) {
  EXPECT_EQ(outcomes_of(seq_cst_loads_alone).size(), 8U);
}

/// A compare-exchange that fails by a value it need not have read.
void compare_fails_on_a_stale_value() {
  sync::atomic<int> data{0};
  sync::atomic<int> flag{0};
  int flagged = 0, found = 1;
  bool done = false;
  spawn([&] {
    data.store(1, relaxed);
    flag.store(1, relaxed);
  });
  spawn([&] {
    flagged = flag.load(relaxed);
    done = data.compare_exchange_strong(found, 2, relaxed, relaxed);
  });
  join_all();
  note({flagged, done ? 1 : 0, found});
}

TEST(Executions, compare_exchange_when_it_could_succeed_then_also_fails_on_an_older_value) {
  EXPECT_EQ(outcomes_of(compare_fails_on_a_stale_value),
            (std::set<std::string>{"000", "011", "100", "111"}));
}

/// Of two sleepers only the first wakes the other one.
template <bool first_is_timed>
void one_wake_for_two() {
  sync::atomic<std::uint32_t> word{1};
  spawn([&] {
    sleep_on(word.cell(), 1, first_is_timed, Where::current());
    if (!first_is_timed) wake(word.cell(), 1, Where::current());
  });
  spawn([&] { sleep_on(word.cell(), 1, false, Where::current()); });
  spawn([&] {
    word.store(2, seq_cst);
    wake(word.cell(), 1, Where::current());
  });
  join_all();
}

TEST(Executions, wake_of_one_when_two_sleep_then_either_is_woken) {
  EXPECT_TRUE(failure_of(one_wake_for_two<false>).starts_with("deadlock"));
}
TEST(Executions, wake_of_one_when_a_sleeper_is_timed_then_it_may_take_it) {
  EXPECT_TRUE(failure_of(one_wake_for_two<true>).starts_with("deadlock"));
}

}  // namespace
}  // namespace heist::model
