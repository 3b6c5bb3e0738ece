// What heistd's servers share in a database: its version, and how it is made.
#pragma once

#include <stdexcept>
#include <string>

namespace heistd {

/// The version of the tables and functions that this program knows. It rises with each change of
/// them: with one of the tables migrate() needs a step that makes it.
inline constexpr int schema_version = 4;

/// A database that cannot be used as it is. The text says why, and what to do.
class SchemaRefused : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// Makes the schema `heistd` in a database, or brings it to this program's version; all of that is
/// one transaction. Gives the version that was there, 0 for none. The target is as of
/// PostgresTarget.
///
/// Thread: any.   Blocks: until the database has done it; another one that migrates goes first, and
/// for a lock that others have it waits 5 s.
/// Errors: SchemaRefused; std::invalid_argument for a target that cannot be read.
int migrate(const std::string& target);

/// Sees whether a server of this program can use the database as it is.
///
/// Thread: any.   Blocks: until the database has answered.
/// Errors: as of migrate(); SchemaRefused when the schema has another version, or is not there.
void check_schema(const std::string& target);

}  // namespace heistd
