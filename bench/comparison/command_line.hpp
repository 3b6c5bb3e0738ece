// The command line of a comparison, and what becomes of it.
#pragma once

#include "registry.hpp"

namespace bench {

/// Exit status: 0 when every bar was reached, 1 when one falls short, 2 when something failed.
[[nodiscard]] int compare(int argc, char** argv, const Registry& registry);

}  // namespace bench
