// Driving: which loop the calling thread is the agent of.
#pragma once

#include <optional>

#include "loop_core.hpp"

namespace heist {

/// Makes the calling thread the loop's agent for a scope. Scopes of different loops nest: a task of
/// one loop may drive, or destroy, another one.
///
/// Errors: NotAllowedError when this loop is being driven already.
class Driving {
 public:
  explicit Driving(LoopCore& loop);
  ~Driving();
  Driving(const Driving&) = delete;
  Driving& operator=(const Driving&) = delete;

 private:
  LoopCore& loop_;
  Reason* outer_rethrown_;
};

/// For calls that are also allowed from within a task of the loop.
class DriveUnlessInside {
 public:
  explicit DriveUnlessInside(LoopCore& loop) {
    if (current_loop() != &loop) driving_.emplace(loop);
  }

 private:
  std::optional<Driving> driving_;
};

}  // namespace heist
