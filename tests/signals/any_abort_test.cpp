// Rule: ABT-3, ABT-5, LIF-2. any: signals that abort when one of several does. Run for each kind of
// signal and source.
#include <atomic>
#include <heist/task_signal.hpp>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "support/pool_memory.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

template <class SignalType, class ControllerType>
struct Kind {
  using Signal = SignalType;
  using Controller = ControllerType;
};

/// `KindOf::Signal::any` of controllers `KindOf::Controller`.
template <class KindOf>
class AnyAbort : public VirtualLoopFixture {
 protected:
  using Signal = typename KindOf::Signal;
  using Controller = typename KindOf::Controller;

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

using Kinds = testing::Types<Kind<AbortSignal, AbortController>, Kind<TaskSignal, AbortController>,
                             Kind<TaskSignal, TaskController>>;
TYPED_TEST_SUITE(AnyAbort, Kinds);

TYPED_TEST(AnyAbort, WPT_ANYA_01_any_when_of_nothing_then_not_aborted) {
  const auto signal = this->any({});
  EXPECT_FALSE(signal.aborted());
  EXPECT_FALSE(signal.reason());
}

TYPED_TEST(AnyAbort,
           WPT_ANYA_02_WPT_ANYA_05_any_when_of_one_signal_once_or_twice_then_follows_it_once) {
  for (const auto times : {1U, 2U}) {
    typename TypeParam::Controller source;
    const auto signal = this->any_of(std::vector<AbortSignal>(times, source.signal()));
    EXPECT_NE(signal, AbortSignal(source.signal()));
    EXPECT_FALSE(signal.aborted());
    std::vector<AbortSignal> targets;
    const auto subscription =
        signal.on_abort([&targets](const AbortSignal& of) { targets.push_back(of); });
    source.abort("reason");
    EXPECT_TRUE(signal.aborted());
    EXPECT_THAT(targets, ElementsAre(AbortSignal(signal)));
    EXPECT_EQ(signal.reason(), source.signal().reason());
  }
}

TYPED_TEST(AnyAbort,
           WPT_ANYA_03_WPT_ANYA_07_any_when_of_signals_or_composites_then_each_leaf_aborts_it) {
  for (std::size_t chosen = 0; chosen < 3; ++chosen) {
    std::vector<typename TypeParam::Controller> controllers(3);
    std::vector<AbortSignal> leaves;
    for (const auto& controller : controllers) leaves.push_back(controller.signal());
    const auto direct = this->any_of(leaves);
    const auto inner = this->any({leaves[0], leaves[1]});
    const auto outer = this->any({inner, leaves[2]});
    EXPECT_FALSE(direct.aborted());
    controllers[chosen].abort();
    EXPECT_TRUE(direct.aborted());
    EXPECT_THROW(direct.throw_if_aborted(), AbortError);
    EXPECT_EQ(inner.aborted(), chosen < 2);
    EXPECT_EQ(outer.reason(), leaves[chosen].reason());
  }
}

TYPED_TEST(AnyAbort,
           WPT_ANYA_04_WPT_ANYA_06_any_when_some_are_aborted_then_the_reason_of_the_first_listed) {
  this->third.abort("earlier");
  this->second.abort("later");
  const AbortSignal later = this->second.signal();
  const AbortSignal earlier = this->third.signal();
  const auto signal = this->any({this->first.signal(), later, earlier});
  EXPECT_TRUE(signal.aborted());
  EXPECT_EQ(signal.reason(), later.reason());
  EXPECT_EQ(this->any({earlier, later, earlier}).reason(), earlier.reason());
}

TYPED_TEST(AnyAbort, WPT_ANYA_08_any_when_of_a_timeout_then_aborts_with_timeout_error) {
  const auto signal = this->any({AbortSignal::timeout(this->scheduler, Delay(5ms))});
  this->loop.advance(4ms);
  EXPECT_FALSE(signal.aborted());
  this->loop.advance(1ms);
  EXPECT_THROW(signal.throw_if_aborted(), TimeoutError);
}

TYPED_TEST(AnyAbort, WPT_ANYA_09_any_when_the_ones_between_are_gone_then_still_follows_the_root) {
  auto outermost = this->any({this->first.signal()});
  for (int i = 0; i < 4; ++i) outermost = this->any({outermost});
  EXPECT_FALSE(outermost.aborted());
  this->first.abort("reason");
  EXPECT_EQ(outermost.reason(), this->first.signal().reason());
}

TYPED_TEST(AnyAbort, WPT_ANYA_10_events_when_of_nested_composites_then_root_and_order_of_creation) {
  const AbortSignal root = this->first.signal();
  std::vector<AbortSignal> signals{root};
  signals.push_back(this->any({root, this->second.signal()}));
  signals.push_back(this->any({root}));
  signals.push_back(this->any({root}));
  signals.push_back(this->any({signals[1], root}));
  signals.push_back(this->any({signals[4]}));
  std::vector<Subscription> subscriptions;
  for (std::size_t i = signals.size(); i-- > 0;) {
    subscriptions.push_back(this->note_abort(signals[i], std::to_string(i)));
  }
  this->first.abort("why");
  EXPECT_THAT(this->trace.take(), ElementsAre("0", "1", "2", "3", "4", "5"));
  EXPECT_EQ(signals[5].reason(), root.reason());
  this->second.abort("late");
  EXPECT_THAT(this->trace.take(), IsEmpty());
}

TYPED_TEST(AnyAbort,
           WPT_ANYA_11_WPT_ANYA_13_abort_when_its_first_listener_runs_then_all_are_marked) {
  const auto inner = this->any({this->first.signal()});
  const auto outer = this->any({inner});
  std::optional<AbortSignal> born_aborted;
  const auto subscription = this->first.signal().on_abort([&] {
    born_aborted = this->any({outer});
    EXPECT_TRUE(this->first.signal().aborted());
    EXPECT_TRUE(inner.aborted());
    EXPECT_TRUE(outer.aborted());
    EXPECT_TRUE(born_aborted->aborted());
    EXPECT_EQ(born_aborted->reason(), this->first.signal().reason());
  });
  this->first.abort();
  ASSERT_TRUE(born_aborted);
  EXPECT_TRUE(born_aborted->aborted());
}

TYPED_TEST(AnyAbort, WPT_ANYA_12_abort_when_a_listener_aborts_another_source_then_the_first_wins) {
  const auto signal = this->any({this->first.signal(), this->second.signal()});
  const auto aborts_too = this->first.signal().on_abort([this] { this->second.abort("reason 2"); });
  const auto subscription = this->note_abort(signal, "abort");
  this->first.abort("reason 1");
  EXPECT_THAT(this->trace.take(), ElementsAre("abort"));
  EXPECT_EQ(signal.reason(), this->first.signal().reason());
  EXPECT_NE(signal.reason(), this->second.signal().reason());
}

// Rule: ABT-2
TYPED_TEST(AnyAbort, close_when_a_listener_of_the_root_calls_it_then_all_reject_with_the_abort) {
  const auto dependent = this->any({this->first.signal()});
  std::vector<Promise<void>> promises;
  for (const AbortSignal& signal : {AbortSignal(this->first.signal()), AbortSignal(dependent)}) {
    for (const Delay delay : {0h, 1h}) {
      promises.push_back(this->post_task("never", {.signal = signal, .delay = delay}));
    }
  }
  this->loop.needs_driver();
  const auto subscription =
      this->first.signal().on_abort([this] { this->loop.close(CloseMode::abort()); });
  this->first.abort("why");
  for (const auto& promise : promises) {
    EXPECT_EQ(promise.reason(), this->first.signal().reason());
  }
}

TYPED_TEST(AnyAbort, WPT_ANYA_14_any_when_its_source_is_gone_then_usable_and_not_aborted) {
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

// That nothing is kept of those that are dropped: tests/counters/flat_memory_test.cpp.
TYPED_TEST(AnyAbort,
           WPT_ANYA_15_abort_when_some_were_dropped_then_heard_by_listeners_that_are_left) {
  for (int i = 0; i < 1000; ++i) {
    const typename TypeParam::Controller request;
    const auto dropped = this->any({request.signal(), this->first.signal()});
    const auto subscription = this->note_abort(dropped, "dropped");
  }
  const auto subscription = this->note_abort(this->any({this->first.signal()}), "abort");
  this->first.abort();
  EXPECT_THAT(this->trace.take(), ElementsAre("abort"));
}

TYPED_TEST(AnyAbort, WPT_ANYA_16_any_when_of_a_moved_from_signal_then_refused_and_not_linked) {
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

TYPED_TEST(AnyAbort, abort_when_a_listener_destroys_its_reason_then_dependents_have_it_still) {
  const auto dependent = this->any({this->first.signal()});
  const auto result = this->post_task("task", {.signal = dependent});
  auto reason = std::make_unique<Reason>("why");
  const auto on_root = this->first.signal().on_abort([&] { reason.reset(); });
  this->first.abort(*reason);
  EXPECT_EQ(*result.reason().template value<std::string>(), "why");
  EXPECT_THAT(this->run(), IsEmpty());
}

/// Lists with handles that may be moved from.
using AnyOfMoved = RuntimeFixture;

TEST_F(AnyOfMoved, any_when_a_handle_stands_twice_and_is_moved_then_one_link) {
  for (const bool both : {false, true}) {
    AbortController controller;
    auto signal = controller.signal();
    const auto any = both ? AbortSignal::any({std::move(signal), std::move(signal)})
                          : AbortSignal::any({std::move(signal), signal});
    EXPECT_FALSE(any.aborted());
    controller.abort();
    EXPECT_TRUE(any.aborted());
  }
}

TEST_F(AnyOfMoved, any_when_of_temporaries_then_their_handles_are_enough) {
  std::optional<AbortController> controller(std::in_place);
  const auto any = AbortSignal::any(
      {controller->signal(), AbortSignal::any({controller->signal()}), AbortController().signal()});
  controller->abort();
  controller.reset();
  EXPECT_TRUE(any.aborted());
}

/// Two sources of one composite, aborted on two threads.
using AnyTwoAborts = RuntimeFixture;

TEST_F(AnyTwoAborts, WPT_MT_09_any_when_two_sources_abort_at_once_then_one_reason_and_one_event) {
  for (int round = 0; round < 500; ++round) {
    AbortController first;
    AbortController second;
    const auto composite = AbortSignal::any({first.signal(), second.signal()});
    const auto outer = AbortSignal::any({composite});
    std::atomic<int> events{0};
    const auto subscription = composite.on_abort([&events] { ++events; });
    const auto all_are_marked = [&] { EXPECT_TRUE(composite.aborted() && outer.aborted()); };
    const auto of_first = first.signal().on_abort(all_are_marked);
    const auto of_second = second.signal().on_abort(all_are_marked);
    std::thread other([&second] { second.abort("second"); });
    first.abort("first");
    other.join();
    EXPECT_EQ(events, 1);
    EXPECT_TRUE(composite.reason() == first.signal().reason() ||
                composite.reason() == second.signal().reason());
    EXPECT_TRUE(outer.aborted());
  }
}

}  // namespace
}  // namespace heist::support
