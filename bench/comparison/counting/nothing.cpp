// The program that measures time.
#include "counters.hpp"

namespace bench {

std::optional<Counters> counted_so_far() noexcept { return std::nullopt; }

}  // namespace bench
