// A scenario that is in the format, but whose run asks for what is not there.
#pragma once

#include <stdexcept>

namespace heist::test {

/// The steps refer to something that does not exist yet, or make it twice.
struct BrokenScenario : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace heist::test
