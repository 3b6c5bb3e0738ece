// How a journal lies in a database of SQLite.
#pragma once

#include <cstdint>
#include <heistd/journal/data_directory.hpp>
#include <heistd/journal/job_record.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <type_traits>

namespace heistd {

/// Opens the journal's database for writing. One that is not there is made, unless the directory
/// had one before. Attempts that an earlier process has noted beside it are running ones.
///
/// Cost:   reads all of it, to find damage.
/// Errors: JournalRefused.
[[nodiscard]] SqliteDatabase open_for_writing(const DataDirectory& directory);

/// A further connection, to a database that is open for writing.   Errors: JournalRefused.
[[nodiscard]] SqliteDatabase open_another(const DataDirectory& directory,
                                          SqliteDatabase::Access access);

/// What a column has of a time, or of an enumerator.
[[nodiscard]] inline std::int64_t column_of(SystemTime time) noexcept {
  return time.time_since_epoch().count();
}
template <class Enum>
  requires std::is_enum_v<Enum>
[[nodiscard]] constexpr std::int64_t column_of(Enum value) noexcept {
  return static_cast<std::int64_t>(value);
}

/// Payloads and results lie in pieces of this size, but for the last one, so that a range of bytes
/// is found at once.
inline constexpr std::uint64_t piece_bytes = std::uint64_t{128} << 10U;
/// The row of a piece: the job's order and the piece's number, together.
inline constexpr unsigned piece_number_bits = 20;
[[nodiscard]] constexpr std::int64_t piece_row(std::uint64_t order, std::uint64_t number) noexcept {
  return static_cast<std::int64_t>(order << piece_number_bits | number);
}

}  // namespace heistd
