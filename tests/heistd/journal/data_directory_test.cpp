// The directory of a journal, and whether the disk has it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <heistd/journal/data_directory.hpp>
#include <set>

#include "scratch_directory.hpp"

namespace heistd {
namespace {

/// The inodes of what this thread has synced.
thread_local std::set<::ino_t>* synced = nullptr;

::ino_t inode_of(const std::filesystem::path& path) {
  struct ::stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_ino;
}

void note_sync(int descriptor) {
  struct ::stat status{};
  if (synced != nullptr && ::fstat(descriptor, &status) == 0) synced->insert(status.st_ino);
}

class DataDirectoryTest : public testing::Test {
 protected:
  DataDirectoryTest() { synced = &noted; }
  ~DataDirectoryTest() override { synced = nullptr; }

  std::set<::ino_t> noted;
  const ScratchDirectory parent;
};

// Rule: JRN-1
TEST_F(DataDirectoryTest, open_when_it_is_made_then_the_disk_has_its_name) {
  const DataDirectory made(parent.path() / "data");
  EXPECT_TRUE(noted.contains(inode_of(parent.path())));
}

TEST_F(DataDirectoryTest, open_when_it_was_there_then_its_parent_is_left_alone) {
  std::filesystem::create_directory(parent.path() / "data");
  const DataDirectory found(parent.path() / "data");
  EXPECT_FALSE(noted.contains(inode_of(parent.path())));
}

}  // namespace
}  // namespace heistd

// The system's own, which tells of it.
extern "C" int fsync(int descriptor) {
  heistd::note_sync(descriptor);
  return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
