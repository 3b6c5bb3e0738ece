// Listeners against abort and removal (ABT-7, ABT-8).
#include <heist/heist.hpp>
#include <optional>

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
