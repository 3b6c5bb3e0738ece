// Parts of results.
#include <boost/beast/core/buffers_to_string.hpp>
#include <heistd/http_reply.hpp>
#include <heistd/result_range.hpp>
#include <string>
#include <tuple>

#include "journal/kept_jobs_fixture.hpp"

namespace heistd {
namespace {

const JobId some_job(32, 'a');

std::tuple<unsigned, std::uint64_t, std::uint64_t> part(const std::string& range,
                                                        std::uint64_t total) {
  const auto found = find_part({range, {}}, some_job, total);
  return {found.status, found.bytes.offset, found.bytes.size};
}

TEST(ResultRange, find_when_one_range_is_wanted_then_what_there_is_of_it) {
  EXPECT_EQ(part("bytes=0-4", 10), std::tuple(206U, 0U, 5U));
  EXPECT_EQ(part("bytes=3-", 10), std::tuple(206U, 3U, 7U));
  EXPECT_EQ(part("bytes=-3", 10), std::tuple(206U, 7U, 3U));
  EXPECT_EQ(part("bytes=-30", 10), std::tuple(206U, 0U, 10U));
  EXPECT_EQ(part("Bytes=9-99999999999999999999999", 10), std::tuple(206U, 9U, 1U));
}

TEST(ResultRange, find_when_there_is_none_of_it_then_416) {
  for (const std::string range : {"bytes=10-", "bytes=10-12", "bytes=-0"}) {
    EXPECT_EQ(std::get<0>(part(range, 10)), 416U) << range;
  }
  EXPECT_EQ(std::get<0>(part("bytes=0-", 0)), 416U);
}

TEST(ResultRange, find_when_it_is_no_single_range_of_bytes_then_all) {
  for (const std::string range : {"", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=0-1,3-4",
                                  "bytes=a-b", "bytes=+1-2", "lines=0-1", "bytes= 0-1"}) {
    EXPECT_EQ(part(range, 10), std::tuple(200U, 0U, 10U)) << range;
  }
}

TEST(ResultRange, find_when_it_is_of_another_result_then_all) {
  EXPECT_EQ(find_part({"bytes=0-4", result_tag(some_job)}, some_job, 10).status, 206U);
  EXPECT_EQ(find_part({"bytes=0-4", "\"other\""}, some_job, 10).status, 200U);
  EXPECT_EQ(find_part({"bytes=0-4", "W/" + result_tag(some_job)}, some_job, 10).status, 200U);
}

TEST(ResultRange, body_when_it_is_a_part_then_the_buffers_are_just_that) {
  Body body{"abc", std::make_shared<const Blocks>(Blocks{"de", "fgh"}), "ij"};
  for (std::uint64_t offset = 0; offset <= 10; ++offset) {
    for (std::uint64_t size = 0; size <= 10 - offset; ++size) {
      body.part = {offset, size};
      const std::string head = "head ";
      const auto sent = boost::beast::buffers_to_string(unsent_of(head, body));
      EXPECT_EQ(sent, head + std::string("abcdefghij").substr(offset, size));
      EXPECT_EQ(body.size(), size);
    }
  }
}

/// Counts what is read of results.
struct CountedReads : MemoryJournal {
  Answer<std::string> read_result(JobId job, ByteRange range) override {
    read += range.size;
    return MemoryJournal::read_result(std::move(job), range);
  }
  std::uint64_t read = 0;
};

class ResultParts : public ApiFixture {
 protected:
  Answer ask(const std::string& target, std::string_view range, std::string_view method = "GET") {
    RequestHead head{method, target, {}, 0, false};
    head.range = range;
    auto step = begin(kept_api, head);
    while (auto* const storing = std::get_if<Storing>(&step)) {
      run_network();
      auto outcome = storing->then();
      if (auto* const reply = std::get_if<Reply>(&outcome)) return answer(*reply);
      step = std::get<Storing>(std::move(outcome));
    }
    return answer(std::get<Reply>(step));
  }
  JobId submit(std::string_view kind, std::string body) {
    const JobRequest request{.kind = kinds.find(kind)};
    NewJob job = new_job(1, body);
    job.kind = kind;
    job.client = anonymous.name;
    said(journal.submit(job));
    static_cast<void>(
        kept.submit_kept(anonymous, request, job.id, body.size(), *anonymous.budget->take_job()));
    for (int turn = 0; turn < 8; ++turn) run_all();
    return job.id;
  }

  CountedReads journal;
  JobKeeper keeper{journal, network.get_executor()};
  JobService kept{loop.scheduler(), network.get_executor(), &keeper};
  Api kept_api{kinds, clients, kept, observer, limits};
};

TEST_F(ResultParts, result_when_a_part_is_wanted_then_it_is_read_alone_and_the_same_as_in_memory) {
  const auto job = submit("compress", std::string(5000, 'x') + "abc");
  const auto target = "/jobs/" + job + "/result";
  const auto whole = ask(target, "");
  EXPECT_EQ(whole.status, 200U);
  EXPECT_EQ(whole.header("Accept-Ranges"), "bytes");
  EXPECT_EQ(whole.header("ETag"), result_tag(job));
  ASSERT_GT(whole.body.size(), 9U);
  const auto total = std::to_string(whole.body.size());
  for (const bool is_in_memory : {true, false}) {
    if (!is_in_memory) anonymous.jobs.drop(*anonymous.jobs.find(job));
    const auto some = ask(target, "bytes=2-5");
    EXPECT_EQ(some.status, 206U);
    EXPECT_EQ(some.body, whole.body.substr(2, 4));
    EXPECT_EQ(some.header("Content-Range"), "bytes 2-5/" + total);
    const auto none = ask(target, "bytes=" + total + "-");
    EXPECT_EQ(none.status, 416U);
    EXPECT_EQ(none.error(), "range_not_satisfiable");
    EXPECT_EQ(none.header("Content-Range"), "bytes */" + total);
  }
  EXPECT_EQ(journal.read, 4U);
  EXPECT_EQ(ask(target, "bytes=2-5", "HEAD").body, whole.body);
}

TEST_F(ResultParts, result_when_it_is_a_json_value_then_parts_are_those_of_its_text) {
  const auto job = submit("digest", "abc");
  const auto target = "/jobs/" + job + "/result";
  const auto whole = ask(target, "").body;
  for (const bool is_in_memory : {true, false}) {
    if (!is_in_memory) anonymous.jobs.drop(*anonymous.jobs.find(job));
    EXPECT_EQ(ask(target, "bytes=-3").body, whole.substr(whole.size() - 3));
  }
}

}  // namespace
}  // namespace heistd
