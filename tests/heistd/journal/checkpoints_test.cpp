// Checkpoints: the log does not grow without end, and what it had is in the database.
#include <gtest/gtest.h>

#include <filesystem>
#include <heistd/journal/checkpoints.hpp>
#include <heistd/limits.hpp>

#include "scratch_directory.hpp"

namespace heistd {
namespace {

TEST(SqliteDatabaseTest, checkpoint_when_the_connection_is_new_then_the_log_is_copied) {
  const ScratchDirectory directory;
  const auto file = directory.path() / "database";
  SqliteDatabase written(file, SqliteDatabase::Access::write);
  ASSERT_EQ(written.text("PRAGMA journal_mode = WAL"), "wal");
  written.execute("PRAGMA wal_autocheckpoint = 0; CREATE TABLE item(bytes BLOB)");
  written.execute("INSERT INTO item VALUES(randomblob(1 << 20))");
  ASSERT_LT(std::filesystem::file_size(file), mib);
  SqliteDatabase copying(file, SqliteDatabase::Access::write);
  copying.checkpoint();
  EXPECT_GE(std::filesystem::file_size(file), mib);
}

TEST(CheckpointsTest, commit_when_more_is_written_than_the_log_may_have_then_it_begins_anew) {
  const ScratchDirectory directory;
  const auto file = directory.path() / "database";
  SqliteDatabase written(file, SqliteDatabase::Access::write);
  ASSERT_EQ(written.text("PRAGMA journal_mode = WAL"), "wal");
  written.execute("PRAGMA synchronous = OFF; CREATE TABLE item(bytes BLOB)");
  const Checkpoints checkpoints(written, {file, SqliteDatabase::Access::write});
  constexpr int mebibytes = 100;
  for (int i = 0; i < mebibytes; ++i)
    written.execute("INSERT INTO item VALUES(randomblob(1 << 20))");
  EXPECT_LT(std::filesystem::file_size(file.string() + "-wal"), 70 * mib);
  EXPECT_GE(std::filesystem::file_size(file), 16 * mib);
  EXPECT_EQ(written.number("SELECT sum(length(bytes)) FROM item"), mebibytes * mib);
}

}  // namespace
}  // namespace heistd
