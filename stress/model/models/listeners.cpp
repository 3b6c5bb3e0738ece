// Listeners against abort and removal (ABT-7, ABT-8).
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
