// serve: a whole server, from the command line to its end.
#pragma once

#include <heistd/kind_table.hpp>

namespace heistd {

/// Reads the options, listens, says where, and serves jobs of these kinds until a signal ends it;
/// the exit code of the program.
///
/// Blocks: until then.
[[nodiscard]] int serve(int argc, const char* const* argv, const KindTable& kinds);

}  // namespace heistd
