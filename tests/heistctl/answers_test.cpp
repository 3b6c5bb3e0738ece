#include <gtest/gtest.h>

#include <heistctl/answers.hpp>
#include <heistctl/failure.hpp>

namespace heistctl {
namespace {

TEST(Answers, parse_job_when_it_is_dead_then_its_error_and_attempts_are_known) {
  const auto job =
      parse_job(R"({"id":"ab","kind":"digest","state":"dead","priority":"background","bytes":7,)"
                R"("attempts":3,"max_attempts":3,"queue_delay_us":null,)"
                R"("error":{"code":"attempt_lost","message":"the process has ended"}})");
  EXPECT_TRUE(job.has_ended());
  EXPECT_EQ(job.attempts, 3U);
  EXPECT_EQ(job.queue_delay_us, std::nullopt);
  EXPECT_EQ(job.error_code, "attempt_lost");
}

TEST(Answers, parse_job_when_it_is_tried_again_then_the_last_error_is_known) {
  const auto job =
      parse_job(R"({"id":"ab","kind":"digest","state":"delayed","priority":"background","bytes":7,)"
                R"("last_error":{"code":"command_failed","message":"no"}})");
  EXPECT_FALSE(job.has_ended());
  EXPECT_EQ(job.error_code, "command_failed");
}

TEST(Answers, parse_job_when_it_is_not_of_heistd_then_it_is_a_failure) {
  for (const auto* const body : {"<html>", "{}", "[1]", R"({"id":1})"}) {
    EXPECT_THROW(static_cast<void>(parse_job(body)), Failure) << body;
  }
}

TEST(Answers, parse_job_when_it_is_nested_without_an_end_then_it_is_a_failure) {
  const std::string depth(1'000'000, '[');
  EXPECT_THROW(static_cast<void>(parse_job(R"({"id":)" + depth)), Failure);
  EXPECT_EQ(parse_refusal(500, depth + std::string(depth.size(), ']')).code, "status 500");
}

TEST(Answers, parse_job_when_a_name_would_control_a_terminal_then_it_is_a_failure) {
  for (const auto* const id : {R"(\u001b[2J)", R"(a\nb)", R"(a\tb)", R"(\u009b2J)"}) {
    const auto body = R"({"id":")" + std::string(id) +
                      R"(","kind":"digest","state":"done","priority":"background","bytes":7})";
    EXPECT_THROW(static_cast<void>(parse_job(body)), Failure) << body;
  }
}

TEST(Answers, parse_page_when_it_is_the_last_then_it_has_no_cursor) {
  const std::string job =
      R"({"id":"ab","kind":"digest","state":"done","priority":"background","bytes":7})";
  EXPECT_EQ(parse_page(R"({"jobs":[)" + job + R"(],"cursor":"next"})").cursor, "next");
  const auto last = parse_page(R"({"jobs":[)" + job + "]}");
  EXPECT_EQ(last.cursor, "");
  EXPECT_EQ(last.jobs.at(0).id, "ab");
}

TEST(Answers, parse_refusal_when_it_is_not_of_heistd_then_the_status_is_its_code) {
  EXPECT_EQ(parse_refusal(502, "<html>").code, "status 502");
  EXPECT_EQ(parse_refusal(400, R"({"error":{"code":"bad","message":"m","field":"f"}})").field, "f");
}

}  // namespace
}  // namespace heistctl
