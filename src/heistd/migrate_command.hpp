// `heistd migrate`: makes the tables that servers share, or brings them to this version.
#pragma once

namespace heistd {

/// Whether the command line asks for that, and not for a server.
[[nodiscard]] bool asks_to_migrate(int argc, const char* const* argv) noexcept;

/// Does it, and says what it did; the exit code of the program.
///
/// Blocks: until the database has done it.
[[nodiscard]] int run_migrate(int argc, const char* const* argv);

}  // namespace heistd
