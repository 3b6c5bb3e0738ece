#include <gtest/gtest.h>

#include <algorithm>
#include <heist/event_loop.hpp>
#include <heistd/upload.hpp>

namespace heistd {
namespace {

struct UploadTest : testing::Test {
  static constexpr std::size_t max_body = 300 * kib;
  static constexpr std::size_t max_queued_bytes = 400 * kib;

  Upload upload() {
    return {*client, {}, *client->budget->take_job(), max_body, BlockDisposal(loop.scheduler())};
  }

  /// Reads `bytes` in; the refusal's code, or nothing.
  static std::string feed(Upload& upload, std::size_t bytes) {
    while (bytes > 0) {
      const auto room = upload.room();
      const auto part = std::min(room.size(), bytes);
      std::ranges::fill(room.first(part), 'x');
      if (const auto refusal = upload.commit(part)) return refusal->code;
      bytes -= part;
    }
    return "";
  }

  static Limits small() {
    Limits limits;
    limits.max_queued = 2;
    limits.max_queued_bytes = max_queued_bytes;
    return limits;
  }

  heist::EventLoop loop;
  std::unique_ptr<Client> client =
      std::make_unique<Client>("c", heist::TaskPriority::user_blocking, small());
};

TEST_F(UploadTest, announce_when_larger_than_allowed_then_413) {
  auto one = upload();
  EXPECT_EQ(one.announce(max_body + 1)->status, 413U);
  EXPECT_EQ(one.announce(~std::uint64_t{0})->status, 413U);
  EXPECT_EQ(one.announce(max_body), std::nullopt);
}

TEST_F(UploadTest, announce_when_budget_used_up_then_503) {
  auto one = upload();
  auto two = upload();
  EXPECT_EQ(one.announce(max_body), std::nullopt);
  EXPECT_EQ(two.announce(max_body)->code, "queue_full");
}

TEST_F(UploadTest, commit_when_never_announced_then_counted_as_it_comes) {
  auto one = upload();
  EXPECT_EQ(feed(one, max_body), "");
  EXPECT_EQ(client->budget->bytes(), max_body);
  EXPECT_EQ(feed(one, 1), "body_too_large");
}

TEST_F(UploadTest, commit_when_budget_runs_out_midway_then_503) {
  auto one = upload();
  auto two = upload();
  EXPECT_EQ(feed(one, max_body), "");
  EXPECT_EQ(feed(two, max_body), "queue_full");
}

TEST_F(UploadTest, room_when_announced_small_then_no_larger_than_that) {
  auto one = upload();
  EXPECT_EQ(one.announce(10), std::nullopt);
  EXPECT_EQ(one.room().size(), 10U);
}

TEST_F(UploadTest, upload_when_given_up_then_its_share_is_free_again) {
  {
    auto one = upload();
    EXPECT_EQ(one.announce(max_body), std::nullopt);
    EXPECT_EQ(client->budget->jobs(), 1U);
  }
  EXPECT_EQ(client->budget->jobs(), 0U);
  EXPECT_EQ(client->budget->bytes(), 0U);
}

TEST_F(UploadTest, take_job_when_too_many_then_none) {
  const auto one = upload();
  const auto two = upload();
  EXPECT_FALSE(client->budget->take_job());
}

}  // namespace
}  // namespace heistd
