// Listeners against abort and removal (ABT-7, ABT-8), and against the signal that they are bound
// to.
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "../support.hpp"

using namespace heist;
using namespace heist::model;

/// After the subscription is gone its callback neither runs nor starts.
HEIST_BLOCKING_MODEL_PROGRAM(abort_against_unsubscribe, 3) {
  AbortController controller;
  int data = 0;
  std::optional<Subscription> subscription(
      controller.signal().on_abort([&](auto&&...) { ++data; }));
  spawn([&] { controller.abort(); });
  subscription.reset();
  const int seen = data;
  join_all();
  check(seen == data && data <= 1, "no call after the removal");
}

/// A listener added while the signal is aborted is called once, or finds it aborted.
HEIST_BLOCKING_MODEL_PROGRAM(abort_against_subscribe, 3) {
  AbortController controller;
  int calls = 0;
  spawn([&] { controller.abort(); });
  const auto signal = controller.signal();
  const Subscription subscription = signal.on_abort([&](auto&&...) { ++calls; });
  const bool was_aborted = signal.aborted();
  join_all();
  check(calls == 1 || was_aborted, "called, or seen");
}

/// What ends the callback, on whatever thread, comes behind all that the remover did before.
HEIST_BLOCKING_MODEL_PROGRAM(removal_is_seen_by_the_callbacks_end, 3) {
  struct Looks {
    explicit Looks(const int& from) : data(&from) {}
    Looks(const Looks&) = delete;
    ~Looks() { check(*data == 1, "what was done before the removal is seen"); }
    const int* data;
  };
  TaskController controller;
  int data = 0;
  std::optional<Subscription> subscription(controller.signal().on_priority_change(
      [looks = std::make_shared<Looks>(data)](auto&&...) {}));
  spawn([&] { controller.set_priority(TaskPriority::background); });
  data = 1;
  subscription.reset();
  join_all();
}

/// Whoever finds that a listener will not be called any more comes behind its call.
HEIST_BLOCKING_MODEL_PROGRAM(inactive_listener_is_done, 3) {
  AbortController controller;
  int data = 0;
  const Subscription subscription = controller.signal().on_abort([&](auto&&...) { data = 1; });
  spawn([&] { controller.abort(); });
  if (!subscription.active()) check(data == 1, "it was called, and that is over");
  join_all();
}

/// Counts the ends of a callback; plain, so that what ends it must come before who looks.
struct CountsEnd {
  explicit CountsEnd(int& count) : ends(&count) {}
  CountsEnd(const CountsEnd&) = delete;
  ~CountsEnd() { ++*ends; }
  int* ends;
};

/// A listener whose signal aborts while it is removed by hand: the removal waits for the callback's
/// end.
HEIST_BLOCKING_MODEL_PROGRAM(bound_listener_against_unsubscribe, 3) {
  TaskController source;
  AbortController bond;
  int ends = 0;
  Subscription subscription = source.signal().on_priority_change(
      [ended = std::make_shared<CountsEnd>(ends)](auto&&...) {}, {.signal = bond.signal()});
  spawn([&] { bond.abort(); });
  subscription.reset();
  check(ends == 1, "the callback is destroyed when its removal returns");
  join_all();
}

/// A listener whose signal aborts while its event is delivered: neither waits; no call after both.
HEIST_MODEL_PROGRAM(bound_listener_against_abort, 2) {
  TaskController source;
  AbortController bond;
  int ends = 0;
  int calls = 0;
  auto* subscription = new Subscription(source.signal().on_priority_change(
      [&calls, ended = std::make_shared<CountsEnd>(ends)](auto&&...) { ++calls; },
      {.signal = bond.signal()}));
  spawn([&] { source.set_priority(TaskPriority::background); });
  bond.abort();
  if (!join_all()) return;  // and the subscription, which would wait, stays
  check(ends == 1 && calls <= 1, "destroyed once, called once at the most");
  source.set_priority(TaskPriority::user_blocking);
  check(calls <= 1 && !subscription->active(), "not called any more");
  delete subscription;
}

/// Both signals abort at once: each ends what the other might.
HEIST_MODEL_PROGRAM(bound_listener_against_two_aborts, 2) {
  AbortController source;
  AbortController bond;
  int ends = 0;
  int calls = 0;
  auto* subscription = new Subscription(source.signal().on_abort(
      [&calls, ended = std::make_shared<CountsEnd>(ends)](auto&&...) { ++calls; },
      {.signal = bond.signal()}));
  spawn([&] { source.abort(); });
  bond.abort();
  if (!join_all()) return;
  check(ends == 1 && calls <= 1 && !subscription->active(),
        "destroyed once, called once at the most");
  delete subscription;
}

/// A listener is bound while its signal aborts: it is gone then, or was never added.
HEIST_MODEL_PROGRAM(binding_against_abort, 2) {
  TaskController source;
  AbortController bond;
  int ends = 0;
  spawn([&] { bond.abort(); });
  auto* subscription = new Subscription(source.signal().on_priority_change(
      [ended = std::make_shared<CountsEnd>(ends)](auto&&...) {}, {.signal = bond.signal()}));
  if (!join_all()) return;
  check(ends == 1 && !subscription->active(), "the abort ends it");
  delete subscription;
}

/// The same for a listener of an event that never comes: the handle stands for an AbortSignal.
HEIST_MODEL_PROGRAM(binding_in_vain_against_abort, 2) {
  TaskController source;
  const AbortController other;
  AbortController bond;
  TaskSignal signal = source.signal();
  static_cast<AbortSignal&>(signal) = other.signal();
  int ends = 0;
  spawn([&] { bond.abort(); });
  const Subscription subscription = signal.on_priority_change(
      [ended = std::make_shared<CountsEnd>(ends)](auto&&...) {}, {.signal = bond.signal()});
  check(ends == 1 && !subscription.active(), "it is gone at once");
  join_all();
}

/// A once listener that is removed by hand while its event is delivered.
HEIST_BLOCKING_MODEL_PROGRAM(once_listener_against_unsubscribe, 3) {
  TaskController source;
  int ends = 0;
  int calls = 0;
  Subscription subscription = source.signal().on_priority_change(
      [&calls, ended = std::make_shared<CountsEnd>(ends)](auto&&...) { ++calls; }, {.once = true});
  spawn([&] {
    source.set_priority(TaskPriority::background);
    source.set_priority(TaskPriority::user_blocking);
  });
  subscription.reset();
  check(ends == 1 && calls <= 1, "destroyed when its removal returns, called once at the most");
  join_all();
}
