// Heist's mutex: whoever unlocks it hands it over to the one who waits.
#pragma once

#include <heist/async_mutex.hpp>
#include <heist/detail/coroutine.hpp>
#include <heist/yield.hpp>
#include <memory>

#include "../heist.hpp"
#include "../yields/turns.hpp"

namespace bench {

class HeistLocks : public HeistSubject {
 public:
  void begin(Turns& turns, int player) {
    if (player == 0) mutex_ = std::make_shared<heist::AsyncMutex>();
    static_cast<void>(play(mutex_, turns, player));
  }

 private:
  static heist::Promise<void> play(std::shared_ptr<heist::AsyncMutex> mutex, Turns& turns,
                                   int player) {
    auto guard = co_await mutex->lock();
    co_await heist::yield();  // so that the other one waits
    for (auto left = turns.each(); left > 0; --left) {
      turns.take(player);
      guard.unlock();
      guard = co_await mutex->lock();
    }
  }

  std::shared_ptr<heist::AsyncMutex> mutex_;
};

}  // namespace bench
