// Reads of a journal on disk when memory runs out.
#include <heistd/journal/data_directory.hpp>
#include <heistd/journal/sqlite_reads.hpp>
#include <heistd/journal/sqlite_schema.hpp>
#include <heistd/journal/sqlite_writes.hpp>
#include <new>

#include "heistd/no_memory.hpp"
#include "journal_fixture.hpp"

namespace heistd {
namespace {

class SqliteReadsWithoutMemory : public testing::Test {
 protected:
  /// True when there was no memory for it.
  template <class Read>
  static bool fails(std::size_t successes, Read read) {
    const NoMemory none(successes, NoMemory::Fails::once);
    try {
      read();
      return false;
    } catch (const std::bad_alloc&) {
      return true;
    }
  }

  void submit(int number) {
    const auto submitted = writes.submit(new_job(number, std::string(100, 'x')), now);
    EXPECT_EQ(submitted.acceptance, Acceptance::accepted);
  }

  const SystemTime now = system_time();
  ScratchDirectory scratch;
  DataDirectory directory{scratch.path() / "data"};
  SqliteDatabase written{open_for_writing(directory)};
  SqliteDatabase read{open_another(directory, SqliteDatabase::Access::read)};
  RunningAttempts attempts{directory.path()};
  RecentJobs recent;
  SqliteWrites writes{written, JournalBounds(), attempts, recent};
  SqliteReads reads{read, attempts};
};

// Rule: JRN-1
TEST_F(SqliteReadsWithoutMemory, read_when_one_has_failed_then_it_sees_what_was_written_since) {
  int jobs = 1;
  submit(jobs);
  const auto read_all = [&] { static_cast<void>(reads.load_unfinished(0, 10, now)); };
  const auto read_payload = [&] { static_cast<void>(reads.payload_part(id_of(1), {0, 100})); };
  for (std::size_t successes = 0; fails(successes, read_all); ++successes) {
    submit(++jobs);
    EXPECT_TRUE(reads.find(id_of(jobs), now)) << successes;
  }
  for (std::size_t successes = 0; fails(successes, read_payload); ++successes) {
    submit(++jobs);
    EXPECT_TRUE(reads.find(id_of(jobs), now)) << successes;
  }
  EXPECT_GT(jobs, 2);
}

}  // namespace
}  // namespace heistd
