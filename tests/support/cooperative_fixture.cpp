#include "support/cooperative_fixture.hpp"

namespace heist::support {

std::string CooperativeFixture::name_of(CooperativePriority level) {
  switch (level) {
    case CooperativePriority::immediate:
      return "immediate";
    case CooperativePriority::user_blocking:
      return "user-blocking";
    case CooperativePriority::normal:
      return "normal";
    case CooperativePriority::low:
      return "low";
    case CooperativePriority::idle:
      break;
  }
  return "idle";
}

}  // namespace heist::support
