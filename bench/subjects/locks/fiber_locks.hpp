// Boost.Fiber's mutex. Whoever unlocks it could lock it again before the one who waits, so a fiber
// yields after that; and once while it has the lock, so that the other one waits.
#pragma once

#include <boost/fiber/mutex.hpp>
#include <boost/fiber/operations.hpp>
#include <memory>
#include <mutex>

#include "../boost_fiber.hpp"
#include "../yields/turns.hpp"

namespace bench {

class FiberLocks : public FiberSubject {
 public:
  void begin(Turns& turns, int player) {
    if (player == 0) mutex_ = std::make_shared<boost::fibers::mutex>();
    post_inside([mutex = mutex_, &turns, player] {
      for (auto left = turns.each(); left > 0; --left) {
        {
          const std::lock_guard lock(*mutex);
          boost::this_fiber::yield();
          turns.take(player);
        }
        boost::this_fiber::yield();
      }
    });
  }

 private:
  std::shared_ptr<boost::fibers::mutex> mutex_;
};

}  // namespace bench
