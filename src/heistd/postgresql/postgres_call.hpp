// PostgresCall: a statement with its values.
#pragma once

#include <boost/system/result.hpp>
#include <functional>
#include <heistd/postgresql/postgres_error.hpp>
#include <heistd/postgresql/postgres_parameters.hpp>
#include <heistd/postgresql/postgres_rows.hpp>
#include <string>

namespace heistd {

/// A statement that each connection prepares when it is first called, for the types of the values
/// that it is called with then. Another call with other types is a mistake.
///
/// It must not begin or end a transaction.   Lifetime: literals, as a rule; longer than all calls.
struct PostgresStatement {
  const char* name;
  const char* text;
};

struct PostgresCall {
  PostgresStatement statement;
  PostgresParameters parameters = PostgresParameters();
};

using PostgresResult = boost::system::result<PostgresRows, PostgresError>;

/// What somebody has asked for with LISTEN.
struct PostgresNotification {
  std::string channel;
  std::string payload;
  bool is_own = false;  ///< it was told on the connection that it comes from
};

}  // namespace heistd
