// The counting of cache lines, by itself: this program has no other atomics of heist's.
#include <gtest/gtest.h>

#include <heist/sync_counted.hpp>
#include <memory>
#include <thread>

namespace {

using heist::counted::LineTable;
using heist::counted::Touch;

struct alignas(64) Line {
  char bytes[64];
};

class LineTableTest : public testing::Test {
 protected:
  void touch_elsewhere(const void* address, Touch how = Touch::update) {
    std::thread([&] { table_->touch(address, how); }).join();
  }
  std::unique_ptr<LineTable> table_ = std::make_unique<LineTable>();
  Line line_{};
  Line other_{};
};

TEST_F(LineTableTest, update_when_line_is_of_one_thread_then_not_counted) {
  table_->touch(&line_, Touch::update);
  table_->touch(&line_, Touch::update);
  touch_elsewhere(&other_);
  EXPECT_EQ(table_->counts().shared_updates, 0U);
  EXPECT_EQ(table_->counts().remote_lines, 0U);
}

TEST_F(LineTableTest, update_when_another_thread_was_last_then_shared_and_remote) {
  touch_elsewhere(&line_);
  table_->touch(&line_.bytes[60], Touch::update);
  EXPECT_EQ(table_->counts().shared_updates, 1U);
  EXPECT_EQ(table_->counts().remote_lines, 1U);
}

TEST_F(LineTableTest, update_when_another_thread_was_there_before_then_shared_but_not_remote) {
  touch_elsewhere(&line_);
  table_->touch(&line_, Touch::update);
  table_->touch(&line_, Touch::update);
  EXPECT_EQ(table_->counts().shared_updates, 2U);
  EXPECT_EQ(table_->counts().remote_lines, 1U);
}

TEST_F(LineTableTest, load_when_another_thread_was_last_then_remote_only) {
  touch_elsewhere(&line_);
  table_->touch(&line_, Touch::load);
  EXPECT_EQ(table_->counts().shared_updates, 0U);
  EXPECT_EQ(table_->counts().remote_lines, 1U);
}

TEST_F(LineTableTest, loads_when_nobody_writes_then_each_thread_takes_the_line_once) {
  touch_elsewhere(&line_);
  for (int i = 0; i < 3; ++i) table_->touch(&line_, Touch::load);
  touch_elsewhere(&line_, Touch::load);
  table_->touch(&line_, Touch::load);
  EXPECT_EQ(table_->counts().remote_lines, 2U);
}

TEST_F(LineTableTest, store_when_others_have_copies_then_it_takes_the_line_and_they_have_none) {
  touch_elsewhere(&line_, Touch::load);
  table_->touch(&line_, Touch::load);
  table_->touch(&line_, Touch::store);
  table_->touch(&line_, Touch::store);
  EXPECT_EQ(table_->counts().remote_lines, 2U);
  touch_elsewhere(&line_, Touch::load);
  EXPECT_EQ(table_->counts().remote_lines, 3U);
}

}  // namespace
