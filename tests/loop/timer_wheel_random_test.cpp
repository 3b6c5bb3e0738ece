// Random histories of a timer wheel against a reference model. Rules: DLY-1, DLY-2.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "loop/timer_wheel_fixture.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using test::half_of_all_ticks;
using test::id_of;
using test::TestTimer;

/// The obvious timers: a map by (expiry tick, arming order).
class ReferenceTimers {
 public:
  explicit ReferenceTimers(std::size_t count) : keys_(count) {}

  void arm(int id, Tick expiry) {
    key_of(id) = {expiry, next_order_++};
    armed_.emplace(*key_of(id), id);
  }
  void cancel(int id) {
    armed_.erase(*key_of(id));
    due_.erase(*key_of(id));
    key_of(id).reset();
  }
  void begin_expire(Tick now) {
    const auto end = armed_.upper_bound({now, no_tick});
    due_.insert(armed_.begin(), end);
    armed_.erase(armed_.begin(), end);
  }
  /// The next id that must fire, or -1.
  int take_due() {
    if (due_.empty()) return -1;
    const int id = due_.begin()->second;
    due_.erase(due_.begin());
    key_of(id).reset();
    return id;
  }
  [[nodiscard]] bool is_armed(int id) const {
    return keys_[static_cast<std::size_t>(id)].has_value();
  }
  [[nodiscard]] std::size_t size() const { return armed_.size() + due_.size(); }
  [[nodiscard]] Tick earliest() const {
    return armed_.empty() ? no_tick : armed_.begin()->first.first;
  }

 private:
  using Key = std::pair<Tick, std::uint64_t>;
  std::optional<Key>& key_of(int id) { return keys_[static_cast<std::size_t>(id)]; }

  std::map<Key, int> armed_;
  std::map<Key, int> due_;
  std::vector<std::optional<Key>> keys_;
  std::uint64_t next_order_ = 0;
};

struct History {
  const char* name;
  Tick start;
  unsigned delay_bits;  ///< Delays below 2^delay_bits.
  bool cancels;
};

std::ostream& operator<<(std::ostream& out, const History& history) { return out << history.name; }

class TimerWheelRandom : public testing::TestWithParam<History> {
 protected:
  static constexpr int timer_count = 96;

  TimerWheelRandom() {
    for (int id = 0; id < timer_count; ++id) timers_.emplace_back(id);
  }

  void run(std::uint64_t seed, int steps) {
    random_.seed(seed);
    for (int i = 0; i < steps && !HasFailure(); ++i) {
      step();
      check();
    }
    wheel_.drain([&](LoopNode& node) { reference_.cancel(id_of(node)); });
    EXPECT_EQ(reference_.size(), 0U);
  }

 private:
  Tick below(Tick bound) { return random_() % bound; }

  void step() {
    if (below(4) == 0) {
      expire();
    } else {
      toggle();
    }
  }

  /// Arms an idle timer or cancels an armed one.
  void toggle() {
    const int id = static_cast<int>(below(timer_count));
    if (!reference_.is_armed(id)) {
      arm(id);
    } else if (GetParam().cancels) {
      reference_.cancel(id);
      wheel_.cancel(timers_[static_cast<std::size_t>(id)]);
    }
  }

  void arm(int id) {
    const Tick expiry = some_expiry();
    reference_.arm(id, expiry);
    wheel_.arm(timers_[static_cast<std::size_t>(id)], expiry);
  }

  /// Few distinct ticks as well, so that equal ones are common; now and then one in the past.
  Tick some_expiry() {
    const Tick now = wheel_.now();
    if (below(16) == 0) return now - std::min(now, below(70));
    const Tick delay = random_() >> (64 - GetParam().delay_bits);
    const Tick expiry = delay > no_tick - now ? no_tick : now + delay;
    return below(2) == 0 ? expiry : std::max(now, expiry & ~Tick{0x1F});
  }

  Tick some_time() {
    switch (below(4)) {
      case 0:
        return wheel_.now();
      case 1:
        return some_expiry();
      default:
        return wheel_.next_expiry() == no_tick ? wheel_.now() : wheel_.next_expiry();
    }
  }

  void expire() {
    const Tick now = std::max(wheel_.now(), some_time());
    reference_.begin_expire(now);
    wheel_.expire(now, [&](LoopNode& node) noexcept {
      EXPECT_EQ(id_of(node), reference_.take_due());
      for (Tick changes = below(3); changes > 0; --changes) toggle();
      EXPECT_TRUE(wheel_.check_invariants());
    });
    EXPECT_EQ(reference_.take_due(), -1);
    EXPECT_EQ(wheel_.now(), now);
  }

  void check() {
    ASSERT_TRUE(wheel_.check_invariants());
    ASSERT_EQ(wheel_.size(), reference_.size());
    ASSERT_LE(wheel_.next_expiry(), reference_.earliest());
    if (wheel_.empty()) {
      ASSERT_EQ(wheel_.next_expiry(), no_tick);
    }
    if (!GetParam().cancels) {
      ASSERT_EQ(wheel_.next_expiry(), reference_.earliest());
    }
  }

  std::mt19937_64 random_;
  std::deque<TestTimer> timers_;
  TimerWheel wheel_{GetParam().start};
  ReferenceTimers reference_{timer_count};
};

TEST_P(TimerWheelRandom, history_when_compared_with_reference_then_equal) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    run(seed, 4000);
  }
}

INSTANTIATE_TEST_SUITE_P(Histories, TimerWheelRandom,
                         testing::Values(History{"one_level", 0, 5, true},
                                         History{"two_levels", 60, 9, true},
                                         History{"three_levels", 4000, 14, true},
                                         History{"three_levels_no_cancel", 4000, 14, false},
                                         History{"seven_levels", Tick{1} << 40, 38, true},
                                         History{"past_half", half_of_all_ticks - 5000, 13, true},
                                         History{"all_levels", 0, 62, true},
                                         History{"all_levels_no_cancel", 0, 62, false},
                                         History{"end_of_time", no_tick - 3000, 12, true}),
                         [](const auto& history) { return std::string(history.param.name); });

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
