// The statements that make the schema of the database.
#pragma once

#include <array>

namespace heistd {

extern const char* const sql_tables;
extern const char* const sql_upgrade;  ///< removes what an earlier version has, but its tables
/// Functions and views, in the order in which they are made.
extern const std::array<const char*, 7> sql_functions;

}  // namespace heistd
