// Timeline: one order of everything that the threads of a round do, for claims about "before" and
// "after".
#pragma once

#include <cstdint>
#include <heist/detail/sync.hpp>

namespace heist::stress {

using namespace detail;

/// A point on the timeline. Later ones are larger.
using Moment = std::uint64_t;
inline constexpr Moment never = ~Moment{0};

/// Edge: each mark() is a read-modify-write of one word, so the mark of a smaller moment happened
/// before that of a larger one.
class Timeline {
 public:
  Moment mark() noexcept { return now_.fetch_add(1, sync::edge("stress:mark", sync::seq_cst)) + 1; }

 private:
  sync::atomic<Moment> now_{0};
};

}  // namespace heist::stress
