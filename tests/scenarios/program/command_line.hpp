// The command line of heist_conformance.
#pragma once

namespace heist::test {

/// Exit status: 0 when nothing failed, 1 when something did, 2 when the command line is wrong.
[[nodiscard]] int conformance(int argc, char** argv);

}  // namespace heist::test
