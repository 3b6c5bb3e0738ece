// The counting of cache lines, by itself: this program has no other atomics of heist's.
#include <gtest/gtest.h>

#include <heist/sync_counted.hpp>
#include <memory>
#include <thread>

namespace {

using heist::counted::LineTable;

struct alignas(64) Line {
  char bytes[64];
};

class LineTableTest : public testing::Test {
 protected:
  void touch_elsewhere(const void* address) {
    std::thread([&] { table_->touch(address, true); }).join();
  }
  std::unique_ptr<LineTable> table_ = std::make_unique<LineTable>();
  Line line_{};
  Line other_{};
};

TEST_F(LineTableTest, update_when_line_is_of_one_thread_then_not_counted) {
  table_->touch(&line_, true);
  table_->touch(&line_, true);
  touch_elsewhere(&other_);
  EXPECT_EQ(table_->counts().shared_updates, 0U);
  EXPECT_EQ(table_->counts().remote_lines, 0U);
}

TEST_F(LineTableTest, update_when_another_thread_was_last_then_shared_and_remote) {
  touch_elsewhere(&line_);
  table_->touch(&line_.bytes[60], true);
  EXPECT_EQ(table_->counts().shared_updates, 1U);
  EXPECT_EQ(table_->counts().remote_lines, 1U);
}

TEST_F(LineTableTest, update_when_another_thread_was_there_before_then_shared_but_not_remote) {
  touch_elsewhere(&line_);
  table_->touch(&line_, true);
  table_->touch(&line_, true);
  EXPECT_EQ(table_->counts().shared_updates, 2U);
  EXPECT_EQ(table_->counts().remote_lines, 1U);
}

TEST_F(LineTableTest, load_when_another_thread_was_last_then_remote_only) {
  touch_elsewhere(&line_);
  table_->touch(&line_, false);
  EXPECT_EQ(table_->counts().shared_updates, 0U);
  EXPECT_EQ(table_->counts().remote_lines, 1U);
}

}  // namespace
