// serve: a whole server, from the command line to its end.
#pragma once

#include <heistd/kind_table.hpp>

namespace heistd {

/// Reads the options, adds the kinds that they name, listens, says where, and serves until a signal
/// ends it; the exit code of the program.
///
/// Blocks: until then.   Errors: std::invalid_argument, as KindTable::add().
[[nodiscard]] int serve(int argc, const char* const* argv, KindTable kinds);

}  // namespace heistd
