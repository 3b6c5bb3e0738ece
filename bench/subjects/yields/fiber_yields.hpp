// Boost.Fiber's yield, with the default scheduler (round_robin). Each goes by way of the thread's
// dispatcher fiber, which is always ready.
#pragma once

#include <boost/fiber/operations.hpp>

#include "../boost_fiber.hpp"
#include "turns.hpp"

namespace bench {

class FiberYields : public FiberSubject {
 public:
  void begin(Turns& turns, int player) {
    post_inside([&turns, player] {
      for (auto left = turns.each(); left > 0; --left) {
        boost::this_fiber::yield();
        turns.take(player);
      }
    });
  }
};

}  // namespace bench
