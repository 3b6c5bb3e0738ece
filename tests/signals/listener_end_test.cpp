// Rule: ABT-5, ABT-7. How listeners end: by their Subscription, or by the abort of the signal that
// they are bound to; and listeners of one event.
#include <array>
#include <cstdint>
#include <functional>
#include <heist/task_signal.hpp>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "support/pool_memory.hpp"
#include "support/threads.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist {
namespace {

using namespace support;  // NOLINT(google-build-using-namespace): the whole of it is for tests
using testing::ElementsAre;
using testing::IsEmpty;

/// `source` has the events, `bond` ends the listeners that are bound to it.
class BoundListeners : public RuntimeFixture {
 protected:
  Subscription listen(std::string label, const ListenerOptions& options) {
    return source.signal().on_priority_change(note(std::move(label)), options);
  }
  /// One event.
  void change() {
    source.set_priority(source.signal().priority() == background ? user_blocking : background);
  }
  [[nodiscard]] ListenerOptions bound() const { return {.signal = bond.signal()}; }

  TaskController source;
  AbortController bond;
};

enum class Ending : std::uint8_t { reset, reset_of_a_bound_one, abort_of_its_bond };
enum class Heard : std::uint8_t { changes, the_abort };

/// A listener that ends in each of the ways, of each kind of event; with `once` and without.
class ListenerEnds : public BoundListeners,
                     public testing::WithParamInterface<std::tuple<Ending, Heard, bool>> {
 protected:
  static Ending ending() { return std::get<0>(GetParam()); }
  static bool hears_changes() { return std::get<1>(GetParam()) == Heard::changes; }
  static bool is_once() { return std::get<2>(GetParam()); }

  template <class Callback>
  Subscription hear(Callback callback, const ListenerOptions& options = {}) {
    const auto signal = source.signal();
    return hears_changes() ? signal.on_priority_change(std::move(callback), options)
                           : signal.on_abort(std::move(callback), options);
  }
  /// Adds the listener that ends.
  template <class Callback>
  void listen(Callback callback) {
    auto options = ending() == Ending::reset ? ListenerOptions{} : bound();
    options.once = is_once();
    subscription = hear(tracked(std::move(callback)), options);
  }
  void listen(const char* label) {
    listen([this, label] { trace.add(label); });
  }
  void end() {
    if (ending() == Ending::abort_of_its_bond) return bond.abort();
    subscription.reset();
  }
  /// An abort has one event only.
  void fire() {
    if (hears_changes()) return change();
    source.abort();
  }

  Subscription subscription;
};
INSTANTIATE_TEST_SUITE_P(All, ListenerEnds,
                         testing::Combine(testing::Values(Ending::reset,
                                                          Ending::reset_of_a_bound_one,
                                                          Ending::abort_of_its_bond),
                                          testing::Values(Heard::changes, Heard::the_abort),
                                          testing::Bool()));

TEST_P(ListenerEnds,
       WPT_LST_01_to_03_listener_when_it_ends_then_was_called_each_time_and_then_no_more) {
  const bool has_one_event = is_once() || !hears_changes();
  listen("event");
  EXPECT_TRUE(subscription.active());
  fire();
  EXPECT_EQ(subscription.active(), !has_one_event);
  EXPECT_EQ(callbacks.alive(), has_one_event ? 0 : 1);
  fire();
  EXPECT_EQ(trace.take().size(), has_one_event ? 1U : 2U);
  end();
  EXPECT_FALSE(subscription.active());
  EXPECT_EQ(callbacks.alive(), 0);
  subscription.reset();
  bond.abort();
  fire();
  EXPECT_FALSE(subscription.active());
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_P(ListenerEnds, WPT_LST_02_to_04_listener_when_it_ends_before_its_event_then_is_never_called) {
  listen("event");
  end();
  EXPECT_FALSE(subscription.active());
  EXPECT_EQ(callbacks.alive(), 0);
  fire();
  subscription.reset();
  bond.abort();
  fire();
  EXPECT_FALSE(subscription.active());
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_P(ListenerEnds,
       WPT_LST_03_WPT_LST_04_WPT_LST_07_listener_when_it_ends_itself_then_it_was_the_last_call) {
  listen([this] {
    end();
    EXPECT_EQ(callbacks.alive(), 1) << "it lives until it returns";
    trace.add("called");
  });
  fire();
  EXPECT_EQ(callbacks.alive(), 0);
  EXPECT_FALSE(subscription.active());
  subscription.reset();
  fire();
  EXPECT_THAT(trace.take(), ElementsAre("called"));
}

TEST_P(ListenerEnds, WPT_LST_07_listener_when_an_earlier_one_ends_it_then_is_not_called) {
  const auto earlier = hear([this] { end(); });
  listen("event");
  const auto later = hear(note("later"));
  fire();
  EXPECT_THAT(trace.take(), ElementsAre("later"));
}

TEST_P(ListenerEnds, WPT_LST_07_listener_when_a_later_one_ends_it_then_it_was_the_last_call) {
  listen("event");
  const auto later = hear([this] { end(); });
  fire();
  fire();
  EXPECT_THAT(trace.take(), ElementsAre("event"));
}

TEST_P(ListenerEnds, WPT_LST_08_listener_when_added_and_ended_in_a_listener_then_is_never_called) {
  const auto outer = hear([this] {
    listen("event");
    end();
  });
  fire();
  fire();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_P(ListenerEnds, WPT_LST_09_listener_when_a_nested_dispatch_ends_it_then_no_call_next_time) {
  TaskController nested;
  const auto ends_it = nested.signal().on_priority_change([this] { end(); });
  listen([&] {
    trace.add("before");
    nested.set_priority(background);
    trace.add("after");
  });
  fire();
  fire();
  EXPECT_THAT(trace.take(), ElementsAre("before", "after"));
}

TEST_F(BoundListeners, WPT_LST_01_listener_when_its_signal_is_aborted_already_then_is_never_added) {
  bond.abort();
  const auto subscription = listen("change", bound());
  EXPECT_FALSE(subscription.active());
  EXPECT_EQ(callbacks.alive(), 0);
  change();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(BoundListeners, WPT_LST_05_signal_when_it_ends_listeners_of_several_targets_then_all) {
  TaskController other;
  const std::array subscriptions{listen("first", bound()), listen("second", bound()),
                                 other.signal().on_priority_change(note("of another"), bound()),
                                 other.signal().on_abort(note("abort of another"), bound())};
  change();
  other.set_priority(background);
  EXPECT_THAT(trace.take(), ElementsAre("first", "second", "of another"));
  bond.abort();
  EXPECT_EQ(callbacks.alive(), 0);
  change();
  other.set_priority(user_blocking);
  other.abort();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(BoundListeners, WPT_LST_07_listener_when_bound_to_the_signal_it_hears_then_never_called) {
  const auto before = source.signal().on_abort(note("before"));
  const auto bound_to_itself = source.signal().on_abort(note("never"), {.signal = source.signal()});
  source.abort();
  EXPECT_THAT(trace.take(), ElementsAre("before"));
}

// The bond's own abort listeners come before the one that removes ours: it is looked at before each
// call.
TEST_F(BoundListeners, WPT_LST_07_event_when_its_listeners_bond_is_being_aborted_then_not_called) {
  const auto change_amid = bond.signal().on_abort([&] { change(); });
  const auto subscription = listen("change", bound());
  bond.abort();
  EXPECT_THAT(trace.take(), IsEmpty());
}

// Rule: ABT-5. They come and go in three ways beside two signals that live long.
TEST_F(BoundListeners, bound_listeners_when_they_come_and_go_then_memory_is_flat) {
  constexpr int turns = 50'000;
  const std::array<std::function<void()>, 3> ways{
      [this] { const auto removed_by_hand = listen("never", bound()); },
      [this] {
        const auto called = listen("once", {.once = true, .signal = bond.signal()});
        change();
      },
      [this] {
        AbortController own;
        const auto ended_by_its_signal = listen("never", {.signal = own.signal()});
        own.abort();
      }};
  for (const auto& come_and_go : ways) {
    std::int64_t begin = 0;
    for (int i = 0; i < turns; ++i) {
      if (i == 1000) begin = held_by_pool();
      come_and_go();
    }
    EXPECT_EQ(callbacks.alive(), 0);
    EXPECT_LE(held_by_pool() - begin, flat);
  }
  EXPECT_THAT(trace.take(), testing::AllOf(testing::SizeIs(turns), testing::Each("once")));
}

// Rule: ABT-7. Unlike the end of a Subscription.
TEST_F(BoundListeners, abort_when_a_bound_one_runs_on_another_thread_then_does_not_wait) {
  Gate running;
  Gate may_end;
  const auto subscription = source.signal().on_priority_change(tracked([&] {
                                                                 running.open();
                                                                 may_end.wait();
                                                               }),
                                                               bound());
  std::thread changer([&] { change(); });
  running.wait();
  bond.abort();
  EXPECT_TRUE(subscription.active()) << "its last call is under way";
  may_end.open();
  changer.join();
  EXPECT_EQ(callbacks.alive(), 0);
}

}  // namespace
}  // namespace heist
