// The statements that make the schema of the database.
#pragma once

#include <array>

namespace heistd {

extern const char* const sql_tables;  ///< of the first version
/// Functions and views, in the order in which they are made. They may be made again.
extern const std::array<const char*, 6> sql_functions;

}  // namespace heistd
