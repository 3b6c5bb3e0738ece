// When a slice is over, by the processor's counter and by the host's clock. Rule: COOP-4.
#include <gtest/gtest.h>

#include <chrono>
#include <heist/detail/slice_clock.hpp>
#include <limits>

namespace HEIST_NAMESPACE::detail {
namespace {

/// A clock that counts how often it is read.
class CountedHost final : public CooperativeHost {
 public:
  explicit CountedHost(bool is_real) : is_real_(is_real) {}

  void post_message() noexcept override {}
  void set_timeout(Milliseconds /*delay*/) noexcept override {}
  void clear_timeout() noexcept override {}
  [[nodiscard]] Milliseconds now() const noexcept override {
    ++reads;
    if (!is_real_) return time;
    const Milliseconds read = steady_time();
    while (steady_time() < read + taken_off) {
    }
    return read;
  }
  [[nodiscard]] bool is_real_time() const noexcept override { return is_real_; }

  mutable int reads = 0;
  Milliseconds time{};
  Milliseconds taken_off{};  ///< so long the reader is taken off the CPU then

 private:
  static Milliseconds steady_time() { return std::chrono::steady_clock::now().time_since_epoch(); }

  bool is_real_;
};

/// To the end of the slice that has begun.
void expect_exact(SliceClock& clock, const CooperativeHost& host) {
  for (;;) {
    const Milliseconds before = host.now();
    if (clock.is_over()) break;
    ASSERT_LT(before, clock.deadline()) << "it was over already";
  }
  EXPECT_GE(host.now(), clock.deadline()) << "over too early";
}

TEST(SliceClock, slice_when_time_is_real_then_over_exactly_when_the_clock_says_so) {
  const CountedHost host(true);
  SliceClock clock(host);
  clock.set_interval(Milliseconds(2));
  for (int slices = 0; slices < 20; ++slices) {
    clock.begin();
    expect_exact(clock, host);
  }
}

TEST(SliceClock, slice_when_the_thread_was_taken_off_at_its_beginning_then_still_exact) {
  CountedHost host(true);
  SliceClock clock(host);
  clock.set_interval(Milliseconds(2));
  for (int slices = 0; slices < 20; ++slices) {
    host.taken_off = Milliseconds(slices % 3 == 1 ? 1.5 : 0);
    clock.begin();
    host.taken_off = {};
    expect_exact(clock, host);
  }
}

TEST(SliceClock, clock_when_the_counter_is_sure_then_not_read) {
  const CountedHost host(true);
  SliceClock clock(host);
  clock.set_interval(Milliseconds(3'600'000));
  for (int measured = 0; measured < 2; ++measured) {
    const Milliseconds until = clock.begin() + Milliseconds(11);
    while (host.now() < until) EXPECT_FALSE(clock.is_over());
  }
  clock.begin();
  host.reads = 0;
  for (int calls = 0; calls < 1000; ++calls) EXPECT_FALSE(clock.is_over());
  EXPECT_TRUE(host.reads == 0 || host.reads == 1000)
      << host.reads << ": some counters are not trusted";
}

TEST(SliceClock, clock_when_it_is_not_real_then_read_each_time) {
  CountedHost host(false);
  SliceClock clock(host);
  for (double begin : {0.0, 1e6}) {
    host.time = Milliseconds(begin);
    clock.begin();
    host.time = Milliseconds(begin + 4.75);
    EXPECT_FALSE(clock.is_over());
    host.time = Milliseconds(begin + 5);
    EXPECT_TRUE(clock.is_over());
  }
}

TEST(SliceClock, slice_when_its_interval_is_infinite_then_not_over_and_later_ones_exact) {
  CountedHost host(false);
  SliceClock clock(host);
  clock.set_interval(Milliseconds(std::numeric_limits<double>::infinity()));
  clock.begin();
  host.time += std::chrono::hours(1);
  EXPECT_FALSE(clock.is_over());
  EXPECT_EQ(host.reads, 2) << "no rate is known: the clock answers";
  clock.set_interval(Milliseconds(5));
  EXPECT_TRUE(clock.is_over());
}

TEST(SliceClock, slice_when_ended_early_then_over_until_that_is_forgotten) {
  const CountedHost host(false);
  SliceClock clock(host);
  clock.begin();
  clock.end_early();
  EXPECT_TRUE(clock.is_over());
  clock.forget_early_end();
  EXPECT_FALSE(clock.is_over());
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
