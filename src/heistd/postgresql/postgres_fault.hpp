// What an error of PostgreSQL means for a journal.
#pragma once

#include <heistd/journal/journal_error.hpp>
#include <heistd/postgresql/postgres_error.hpp>

namespace heistd {

[[nodiscard]] JournalError journal_error(const PostgresError& error);

}  // namespace heistd
