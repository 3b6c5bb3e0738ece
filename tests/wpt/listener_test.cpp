// Listeners with options: bound to a signal, or for one event.
#include <array>
#include <cstdint>
#include <functional>
#include <heist/task_signal.hpp>
#include <optional>
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

/// `source` has the events, `bond` ends the listeners.
class WptListener : public RuntimeFixture {
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

TEST_F(WptListener, WPT_LST_01_listener_when_its_signal_aborts_then_was_called_until_then) {
  const auto subscription = listen("change", bound());
  change();
  change();
  EXPECT_THAT(trace.take(), ElementsAre("change", "change"));
  bond.abort();
  EXPECT_FALSE(subscription.active());
  EXPECT_EQ(callbacks.alive(), 0) << "the abort removes it";
  change();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptListener, WPT_LST_01_listener_when_its_signal_is_aborted_already_then_is_never_added) {
  bond.abort();
  const auto subscription = listen("change", bound());
  EXPECT_FALSE(subscription.active());
  EXPECT_EQ(callbacks.alive(), 0);
  change();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptListener, WPT_LST_02_reset_when_it_has_a_signal_then_gone_and_the_abort_is_harmless) {
  auto subscription = listen("change", bound());
  subscription.reset();
  EXPECT_EQ(callbacks.alive(), 0);
  change();
  bond.abort();
  change();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptListener, WPT_LST_02_reset_when_the_abort_has_removed_it_then_harmless) {
  auto subscription = listen("change", bound());
  bond.abort();
  subscription.reset();
  EXPECT_FALSE(subscription.active());
}

TEST_F(WptListener, WPT_LST_03_once_listener_when_it_has_a_signal_then_is_called_once) {
  const auto subscription = listen("change", {.once = true, .signal = bond.signal()});
  change();
  EXPECT_FALSE(subscription.active());
  EXPECT_EQ(callbacks.alive(), 0);
  change();
  bond.abort();
  EXPECT_THAT(trace.take(), ElementsAre("change"));
}

TEST_F(WptListener, WPT_LST_03_once_listener_when_its_signal_aborts_first_then_is_never_called) {
  const auto subscription = listen("change", {.once = true, .signal = bond.signal()});
  bond.abort();
  change();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptListener, WPT_LST_03_once_listener_when_its_event_is_an_abort_then_is_called_once) {
  const auto subscription =
      source.signal().on_abort(note("abort"), {.once = true, .signal = bond.signal()});
  source.abort();
  source.abort();
  EXPECT_FALSE(subscription.active());
  EXPECT_THAT(trace.take(), ElementsAre("abort"));
}

TEST_F(WptListener, WPT_LST_04_reset_when_a_once_listener_has_a_signal_then_is_never_called) {
  auto subscription = listen("change", {.once = true, .signal = bond.signal()});
  subscription.reset();
  EXPECT_EQ(callbacks.alive(), 0);
  change();
  bond.abort();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptListener, WPT_LST_04_reset_when_within_the_call_of_a_once_listener_then_harmless) {
  Subscription subscription;
  subscription = source.signal().on_priority_change(tracked([&] {
                                                      subscription.reset();
                                                      EXPECT_EQ(callbacks.alive(), 1);
                                                      trace.add("called");
                                                    }),
                                                    {.once = true});
  change();
  EXPECT_EQ(callbacks.alive(), 0);
  change();
  EXPECT_THAT(trace.take(), ElementsAre("called"));
}

TEST_F(WptListener, WPT_LST_05_signal_when_it_ends_several_listeners_of_several_targets_then_all) {
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

TEST_F(WptListener, WPT_LST_07_abort_when_within_a_listener_then_later_ones_are_not_called) {
  const auto first = source.signal().on_priority_change([&] { bond.abort(); });
  const auto second = listen("second", bound());
  const auto third = listen("third", {});
  change();
  EXPECT_THAT(trace.take(), ElementsAre("third"));
}

TEST_F(WptListener, WPT_LST_07_listener_when_bound_to_the_signal_it_listens_to_then_never_called) {
  const auto before = source.signal().on_abort(note("before"));
  const auto bound_to_itself = source.signal().on_abort(note("never"), {.signal = source.signal()});
  source.abort();
  EXPECT_THAT(trace.take(), ElementsAre("before"));
}

// The bond's own abort listeners come before the one that removes ours: it is looked at before each
// call.
TEST_F(WptListener, WPT_LST_07_event_when_its_listeners_bond_is_being_aborted_then_not_called) {
  const auto change_amid = bond.signal().on_abort([&] { change(); });
  const auto subscription = listen("change", bound());
  bond.abort();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptListener, WPT_LST_07_abort_when_within_its_own_listener_then_it_was_the_last_call) {
  const auto subscription = source.signal().on_priority_change(
      [&, probe = callbacks.probe()] {
        bond.abort();
        EXPECT_EQ(callbacks.alive(), 1) << "it lives until it returns";
        trace.add("called");
      },
      bound());
  change();
  EXPECT_EQ(callbacks.alive(), 0);
  change();
  EXPECT_THAT(trace.take(), ElementsAre("called"));
}

TEST_F(WptListener, WPT_LST_08_listener_when_added_and_ended_within_a_listener_then_never_called) {
  Subscription inner;
  const auto outer = source.signal().on_priority_change([&] {
    inner = listen("inner", bound());
    bond.abort();
  });
  change();
  change();
  EXPECT_THAT(trace.take(), IsEmpty());
}

TEST_F(WptListener, WPT_LST_09_abort_when_in_a_nested_dispatch_then_no_call_in_the_next_round) {
  TaskController nested;
  const auto remover = nested.signal().on_priority_change([&] { bond.abort(); });
  const auto running = source.signal().on_priority_change(tracked([&] {
                                                            trace.add("before");
                                                            nested.set_priority(background);
                                                            trace.add("after");
                                                          }),
                                                          bound());
  change();
  change();
  EXPECT_THAT(trace.take(), ElementsAre("before", "after"));
}

/// Bound listeners that come and go, in three ways; both signals live long.
class WptListenersGo : public WptListener {
 protected:
  /// By how much the pool grows while they do.
  std::int64_t growth(const std::function<void()>& come_and_go) {
    std::int64_t begin = 0;
    for (int i = 0; i < 50'000; ++i) {
      if (i == 1000) begin = held_by_pool();
      come_and_go();
    }
    EXPECT_EQ(callbacks.alive(), 0);
    return held_by_pool() - begin;
  }
};

// Rule: ABT-5
TEST_F(WptListenersGo, bound_listeners_when_removed_by_hand_then_memory_is_flat) {
  EXPECT_LE(growth([this] { const auto subscription = listen("never", bound()); }), flat);
}

// Rule: ABT-5
TEST_F(WptListenersGo, bound_listeners_when_their_one_event_has_come_then_memory_is_flat) {
  EXPECT_LE(growth([this] {
              const auto subscription = listen("once", {.once = true, .signal = bond.signal()});
              change();
            }),
            flat);
  EXPECT_EQ(trace.take().size(), 50'000U);
}

// Rule: ABT-5
TEST_F(WptListenersGo, bound_listeners_when_their_signal_aborts_then_memory_is_flat) {
  EXPECT_LE(growth([this] {
              AbortController own;
              const auto subscription = listen("never", {.signal = own.signal()});
              own.abort();
            }),
            flat);
}

// Rule: ABT-7. Unlike the end of a Subscription.
TEST_F(WptListener, abort_when_a_bound_listener_runs_on_another_thread_then_does_not_wait) {
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
