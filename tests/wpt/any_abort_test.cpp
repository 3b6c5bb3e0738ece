// any: signals that abort when one of several does. Run for each kind of signal and source.
#include <cstdint>
#include <heist/task_signal.hpp>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "support/pool_memory.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;

struct AbortSignalOfAbortControllers {
  using Signal = AbortSignal;
  using Controller = AbortController;
};
struct TaskSignalOfAbortControllers {
  using Signal = TaskSignal;
  using Controller = AbortController;
};
struct TaskSignalOfTaskControllers {
  using Signal = TaskSignal;
  using Controller = TaskController;
};

/// `Kind::Signal::any` of controllers `Kind::Controller`.
template <class Kind>
class WptAnyAbort : public VirtualLoopFixture {
 protected:
  using Signal = typename Kind::Signal;
  using Controller = typename Kind::Controller;

  static Signal any(std::initializer_list<AbortSignal> signals) { return Signal::any(signals); }
  static Signal any_of(const std::vector<AbortSignal>& signals) {
    return Signal::any(std::span<const AbortSignal>(signals));
  }
  Subscription note_abort(const AbortSignal& signal, std::string label) {
    return signal.on_abort(note(std::move(label)));
  }

  Controller first;
  Controller second;
  Controller third;
};

struct KindName {
  template <class Kind>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): gtest's
    const std::string signal = std::is_same_v<typename Kind::Signal, TaskSignal> ? "Task" : "Abort";
    const bool of_tasks = std::is_same_v<typename Kind::Controller, TaskController>;
    return signal + "SignalOf" + (of_tasks ? "Task" : "Abort") + "Controllers";
  }
};
using Kinds = testing::Types<AbortSignalOfAbortControllers, TaskSignalOfAbortControllers,
                             TaskSignalOfTaskControllers>;
TYPED_TEST_SUITE(WptAnyAbort, Kinds, KindName);

TYPED_TEST(WptAnyAbort, WPT_ANYA_01_any_when_of_nothing_then_not_aborted) {
  const auto signal = this->any({});
  EXPECT_FALSE(signal.aborted());
  EXPECT_FALSE(signal.reason());
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_02_any_when_of_one_signal_then_another_that_follows_it) {
  const auto signal = this->any({this->first.signal()});
  EXPECT_NE(signal, AbortSignal(this->first.signal()));
  EXPECT_FALSE(signal.aborted());
  std::optional<AbortSignal> target;
  const auto subscription = signal.on_abort([&target](const AbortSignal& of) { target = of; });
  this->first.abort("reason");
  EXPECT_TRUE(signal.aborted());
  EXPECT_EQ(target, AbortSignal(signal));
  EXPECT_EQ(signal.reason(), this->first.signal().reason());
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_03_any_when_of_three_signals_then_each_of_them_aborts_it) {
  for (int chosen = 0; chosen < 3; ++chosen) {
    std::vector<typename TypeParam::Controller> controllers(3);
    std::vector<AbortSignal> signals;
    for (const auto& controller : controllers) signals.push_back(controller.signal());
    const auto signal = this->any_of(signals);
    EXPECT_FALSE(signal.aborted());
    controllers[static_cast<std::size_t>(chosen)].abort();
    EXPECT_TRUE(signal.aborted());
    EXPECT_THROW(signal.throw_if_aborted(), AbortError);
  }
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_04_any_when_some_are_aborted_then_the_reason_of_the_first_listed) {
  this->third.abort("earlier");
  this->second.abort("later");
  const auto signal =
      this->any({this->first.signal(), this->second.signal(), this->third.signal()});
  EXPECT_TRUE(signal.aborted());
  EXPECT_EQ(signal.reason(), this->second.signal().reason());
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_05_any_when_of_the_same_signal_twice_then_follows_it_once) {
  const auto signal = this->any({this->first.signal(), this->first.signal()});
  const auto subscription = this->note_abort(signal, "abort");
  this->first.abort("reason");
  EXPECT_EQ(signal.reason(), this->first.signal().reason());
  EXPECT_THAT(this->trace.take(), ElementsAre("abort"));
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_06_any_when_of_a_duplicate_that_is_aborted_then_its_first_place) {
  this->first.abort("reason 1");
  this->second.abort("reason 2");
  const auto signal =
      this->any({this->first.signal(), this->second.signal(), this->first.signal()});
  EXPECT_EQ(signal.reason(), this->first.signal().reason());
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_07_any_when_of_composites_then_follows_every_leaf) {
  for (int chosen = 0; chosen < 3; ++chosen) {
    std::vector<typename TypeParam::Controller> controllers(3);
    const auto inner = this->any({controllers[0].signal(), controllers[1].signal()});
    const auto outer = this->any({inner, controllers[2].signal()});
    auto& aborted = controllers[static_cast<std::size_t>(chosen)];
    aborted.abort("reason");
    EXPECT_EQ(inner.aborted(), chosen < 2);
    EXPECT_EQ(outer.reason(), aborted.signal().reason());
  }
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_08_any_when_of_a_timeout_then_aborts_with_timeout_error) {
  const auto signal = this->any({AbortSignal::timeout(this->scheduler, Delay(5ms))});
  this->loop.advance(4ms);
  EXPECT_FALSE(signal.aborted());
  this->loop.advance(1ms);
  EXPECT_THROW(signal.throw_if_aborted(), TimeoutError);
}

TYPED_TEST(WptAnyAbort,
           WPT_ANYA_09_any_when_the_ones_between_are_gone_then_still_follows_the_root) {
  auto outermost = this->any({this->first.signal()});
  for (int i = 0; i < 4; ++i) outermost = this->any({outermost});
  EXPECT_FALSE(outermost.aborted());
  this->first.abort("reason");
  EXPECT_EQ(outermost.reason(), this->first.signal().reason());
}

TYPED_TEST(WptAnyAbort,
           WPT_ANYA_10_events_when_of_nested_composites_then_root_and_order_of_creation) {
  std::vector<AbortSignal> signals{this->first.signal()};
  signals.push_back(this->any({signals[0]}));
  signals.push_back(this->any({signals[0]}));
  signals.push_back(this->any({signals[0]}));
  signals.push_back(this->any({signals[1]}));
  std::vector<Subscription> subscriptions;
  for (std::size_t i = signals.size(); i-- > 0;) {
    subscriptions.push_back(this->note_abort(signals[i], std::to_string(i)));
  }
  this->first.abort();
  EXPECT_THAT(this->trace.take(), ElementsAre("0", "1", "2", "3", "4"));
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_11_abort_when_its_first_listener_runs_then_all_are_marked) {
  const auto inner = this->any({this->first.signal()});
  const auto outer = this->any({inner});
  const auto subscription = this->first.signal().on_abort([&] {
    const auto born_aborted = this->any({outer});
    EXPECT_TRUE(this->first.signal().aborted());
    EXPECT_TRUE(inner.aborted());
    EXPECT_TRUE(outer.aborted());
    EXPECT_TRUE(born_aborted.aborted());
    EXPECT_EQ(born_aborted.reason(), this->first.signal().reason());
    this->trace.add("listener");
  });
  this->first.abort();
  EXPECT_THAT(this->trace.take(), ElementsAre("listener"));
}

TYPED_TEST(WptAnyAbort,
           WPT_ANYA_12_abort_when_a_listener_aborts_another_source_then_the_first_wins) {
  const auto signal = this->any({this->first.signal(), this->second.signal()});
  const auto aborts_too = this->first.signal().on_abort([this] { this->second.abort("reason 2"); });
  const auto subscription = this->note_abort(signal, "abort");
  this->first.abort("reason 1");
  EXPECT_THAT(this->trace.take(), ElementsAre("abort"));
  EXPECT_EQ(signal.reason(), this->first.signal().reason());
  EXPECT_NE(signal.reason(), this->second.signal().reason());
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_13_any_when_within_the_roots_listener_then_harmless) {
  const auto dependent = this->any({this->first.signal()});
  std::optional<AbortSignal> made;
  const auto subscription = this->first.signal().on_abort([&] { made = this->any({dependent}); });
  this->first.abort();
  ASSERT_TRUE(made);
  EXPECT_TRUE(made->aborted());
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_14_any_when_its_source_is_gone_then_usable_and_not_aborted) {
  std::optional<typename TypeParam::Controller> controller(std::in_place);
  const auto dependent = this->any({controller->signal()});
  controller.reset();
  const auto outer = this->any({dependent, this->first.signal()});
  EXPECT_FALSE(dependent.aborted());
  EXPECT_FALSE(outer.aborted());
  this->first.abort();
  EXPECT_FALSE(dependent.aborted());
  EXPECT_TRUE(outer.aborted());
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_15_any_when_only_its_listener_is_left_then_still_aborts) {
  const auto subscription = this->note_abort(this->any({this->first.signal()}), "abort");
  this->first.abort();
  EXPECT_THAT(this->trace.take(), ElementsAre("abort"));
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_15_any_when_dropped_then_its_long_lived_source_keeps_nothing) {
#if defined(HEIST_SANITIZER_THREAD) || defined(HEIST_SANITIZER_ADDRESS)
  constexpr int dropped = 20'000;
#else
  constexpr int dropped = 1'000'000;
#endif
  std::int64_t begin = 0;
  for (int i = 0; i < dropped; ++i) {
    if (i == 1000) begin = held_by_pool();
    const typename TypeParam::Controller request;
    const auto signal = this->any({request.signal(), this->first.signal()});
    ASSERT_FALSE(signal.aborted());
  }
  EXPECT_LE(held_by_pool() - begin, flat);
}

TYPED_TEST(WptAnyAbort, WPT_ANYA_16_any_when_of_a_moved_from_signal_then_refused_and_not_linked) {
  AbortSignal valid = this->second.signal();
  const AbortSignal moved_to = std::move(valid);
  const auto nothing_made = [&] {
    EXPECT_THROW(static_cast<void>(this->any({this->first.signal(), valid})),
                 std::invalid_argument);
  };
  nothing_made();
  const auto begin = held_by_pool();
  for (int i = 0; i < 10'000; ++i) nothing_made();
  EXPECT_LE(held_by_pool() - begin, flat);
  this->first.abort();
  EXPECT_FALSE(moved_to.aborted());
}

}  // namespace
}  // namespace heist::support
