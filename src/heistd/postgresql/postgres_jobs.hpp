// How jobs go to PostgreSQL and come back.
#pragma once

#include <heistd/journal/job_journal.hpp>
#include <heistd/postgresql/postgres_call.hpp>
#include <heistd/postgresql/postgres_uuid.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heistd {

/// Accepts jobs, in their order; gives a row for each. With `again` an earlier call may have
/// accepted them, of which the answer was lost.   Errors: std::bad_alloc.
[[nodiscard]] PostgresCall submit_call(const std::vector<const NewJob*>& jobs, bool again,
                                       std::optional<SystemTime> clock);
[[nodiscard]] JobJournal::Submitted read_submitted(const PostgresRows& rows, std::size_t row);

/// The columns of the view `stored`, from `column` on; `now` is the time of the reading.
///
/// Errors: std::logic_error for columns of other types.
[[nodiscard]] StoredJob read_stored_job(const PostgresRows& rows, std::size_t row,
                                        std::size_t column, SystemTime now);
/// How many columns that are.
inline constexpr std::size_t stored_columns = 26;

/// As the bytes of a value.
[[nodiscard]] inline PostgresBytes bytes_of(std::string_view text) noexcept { return {text}; }
/// Nothing for an empty text.
[[nodiscard]] std::optional<PostgresBytes> bytes_unless_empty(std::string_view text) noexcept;
[[nodiscard]] std::string joined(const SharedBlocks& blocks);
[[nodiscard]] std::int16_t number_of(heist::TaskPriority priority) noexcept;

}  // namespace heistd
