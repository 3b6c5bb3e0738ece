// Heist's yield: in a task without a signal, and in one with a TaskSignal, whose continuations can
// be aborted and moved.
#pragma once

#include <heist/detail/coroutine.hpp>
#include <heist/task_signal.hpp>
#include <heist/yield.hpp>
#include <utility>

#include "../heist.hpp"
#include "turns.hpp"

namespace bench {

class HeistYields : public HeistSubject {
 public:
  void begin(Turns& turns, int player) { static_cast<void>(play(turns, player)); }

 private:
  static heist::Promise<void> play(Turns& turns, int player) {
    for (auto left = turns.each(); left > 0; --left) {
      co_await heist::yield();
      turns.take(player);
    }
  }
};

class HeistSignalYields : public HeistYields {
 public:
  static constexpr const char* name = "heist_signal";
  template <class F>
  void post(F&& f) {
    scheduler().post(std::forward<F>(f), {.signal = controller_.signal()});
  }

 private:
  heist::TaskController controller_;
};

}  // namespace bench
