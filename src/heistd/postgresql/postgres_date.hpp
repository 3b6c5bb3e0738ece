// Days as PostgreSQL's dates.
#pragma once

#include <chrono>
#include <heistd/postgresql/postgres_types.hpp>

namespace heistd {

using PostgresDate = std::chrono::sys_days;

/// PostgreSQL counts days from the year 2000.
template <>
struct PostgresType<PostgresDate> {
  static constexpr Oid oid = 1082;
  static constexpr Oid array_oid = 1182;
  static constexpr PostgresDate first{std::chrono::year(2000) / 1 / 1};
  static void encode(std::string& out, PostgresDate day) {
    append_integer(out, static_cast<std::int32_t>((day - first).count()));
  }
  static PostgresDate decode(std::string_view bytes) {
    return first + std::chrono::days(read_integer<std::int32_t>(bytes));
  }
};

}  // namespace heistd
