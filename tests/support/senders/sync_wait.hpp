// Of the stand-in for a library of senders: sync_wait.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "connect.hpp"

namespace heist::support::senders {

/// What sync_wait() waits for.
template <class Result>
struct waited_for {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_there = false;
  Result result;
  std::exception_ptr error;
  void end() {
    const std::lock_guard lock(mutex);  // the waiter destroys this once it has the lock
    is_there = true;
    changed.notify_one();
  }
};
template <class Result>
struct waiting_receiver {
  using receiver_concept = receiver_tag;
  waited_for<Result>* outcome;
  void set_value(auto&&... values) noexcept {
    outcome->result.emplace(std::forward<decltype(values)>(values)...);
    outcome->end();
  }
  void set_error(std::exception_ptr error) noexcept {
    outcome->error = std::move(error);
    outcome->end();
  }
  void set_stopped() noexcept { outcome->end(); }
};

/// Waits on a thread without a loop. Nothing if it was stopped; throws if it failed.
template <sender Sender>
auto sync_wait(const Sender& sender) {
  using Result = std::optional<values_of_t<Sender>>;
  waited_for<Result> outcome;
  auto operation = senders::connect(sender, waiting_receiver<Result>{&outcome});
  operation.start();
  std::unique_lock lock(outcome.mutex);
  outcome.changed.wait(lock, [&] { return outcome.is_there; });
  if (outcome.error) std::rethrow_exception(outcome.error);
  return std::move(outcome.result);
}

}  // namespace heist::support::senders
