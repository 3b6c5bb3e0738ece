// Descriptors: how many connections the system lets this process have.
#pragma once

#include <cstddef>

namespace heistd {

/// Makes room for so many connections, as far as the hard limit of open files allows: raises the
/// soft limit if need be.
///
/// Returns how many of them there is room for, besides the descriptors that are open now, those
/// that the server itself will need, and `others`.   Errors: std::system_error.   Thread: any,
/// before the server is made.
[[nodiscard]] std::size_t make_room_for_connections(std::size_t wanted, std::size_t others);

}  // namespace heistd
