// Jobs that are deleted while their level starves, or long before their delay is over, go at once:
// their tasks, their memory and their places in the queue. Rule: ABT-4, LIF-5.
#include "api_fixture.hpp"

namespace heistd {
namespace {

class StarvingJobs : public ApiFixture {
 protected:
  static constexpr std::size_t places = 64;
  static Limits few_places() {
    Limits limits;
    limits.max_queued = places;
    return limits;
  }
  StarvingJobs() : ApiFixture(few_places()) {}

  /// Agents pick something more urgent than what the test posts, and nothing else.
  void run_something_urgent() {
    ASSERT_TRUE(loop.scheduler().post([this] { ++urgent_; },
                                      {.priority = heist::TaskPriority::user_blocking}));
    const auto before = urgent_;
    run_one();
    ASSERT_EQ(urgent_, before + 1);
  }
  /// Many more than there are places for; each is deleted before it can start.
  void post_and_delete(std::string_view target, std::string_view body) {
    for (std::size_t i = 0; i < 50 * places; ++i) {
      const auto job = post(target, body);
      ASSERT_EQ(call("DELETE", job).json()["state"], "aborted");
      run_something_urgent();
      ASSERT_LE(anonymous.budget->jobs(), 1U);
    }
  }
  void expect_nothing_held() {
    run_something_urgent();
    EXPECT_EQ(anonymous.budget->jobs(), 0U);
    EXPECT_EQ(anonymous.budget->bytes(), 0U);
  }

 private:
  std::size_t urgent_ = 0;
};

TEST_F(StarvingJobs, delete_when_the_level_of_a_signals_job_starves_then_its_place_is_free) {
  post_and_delete("/jobs/digest?signal=g&priority=background", "bytes");
  expect_nothing_held();
}
TEST_F(StarvingJobs, delete_when_the_level_of_a_signal_starves_then_its_jobs_places_are_free) {
  call("PUT", "/signals/g?priority=background");
  post_and_delete("/jobs/compress?signal=g", "bytes");
  expect_nothing_held();
}
TEST_F(StarvingJobs, delete_when_a_signals_job_has_a_delay_of_a_day_then_its_place_is_free) {
  post_and_delete("/jobs/digest?signal=g&delay=86400000", "bytes");
  expect_nothing_held();
}
TEST_F(StarvingJobs, delete_when_a_job_without_a_signal_starves_then_its_place_is_free) {
  post_and_delete("/jobs/digest?priority=background", "bytes");
  expect_nothing_held();
}

TEST_F(StarvingJobs, delete_when_a_signals_job_has_begun_then_its_place_is_free) {
  call("PUT", "/signals/g?priority=background");
  const auto job = post("/jobs/digest?signal=g", std::string(3 * block_bytes, 'x'));
  run_one();
  ASSERT_EQ(state(job), "running");
  call("DELETE", job);
  run_something_urgent();
  expect_nothing_held();
}

TEST_F(StarvingJobs, delete_when_the_signal_has_many_jobs_then_their_places_are_free) {
  call("PUT", "/signals/g?priority=background");
  for (std::size_t i = 0; i < places; ++i) post("/jobs/digest?signal=g");
  call("DELETE", "/signals/g");
  for (std::size_t i = 0; i < places; ++i) run_something_urgent();
  expect_nothing_held();
}

// What is large is freed by tasks at the client's ceiling, and counts until they have come.
TEST_F(StarvingJobs, delete_when_what_the_job_holds_is_not_free_yet_then_it_counts) {
  authorization = "Bearer b";
  auto& bob = **clients.authenticate(authorization);
  constexpr auto bytes = 10 * block_bytes;
  const auto job = post("/jobs/digest?signal=g", std::string(bytes, 'x'));
  call("DELETE", job);
  run_something_urgent();
  EXPECT_EQ(bob.budget->jobs(), 0U);
  EXPECT_EQ(bob.budget->bytes(), bytes);
  run_all();
  EXPECT_EQ(bob.budget->bytes(), 0U);
}

TEST_F(StarvingJobs, upload_when_given_up_and_not_free_yet_then_it_counts) {
  authorization = "Bearer b";
  auto& bob = **clients.authenticate(authorization);
  constexpr auto bytes = 10 * block_bytes;
  {
    auto step = begin(api, {"POST", "/jobs/digest", authorization, bytes, false});
    auto& upload = std::get<Upload>(step);
    for (std::size_t i = 0; i < 9; ++i)
      EXPECT_EQ(upload.commit(upload.room().size()), std::nullopt);
  }
  run_something_urgent();
  EXPECT_EQ(bob.budget->bytes(), bytes);
  run_all();
  EXPECT_EQ(bob.budget->bytes(), 0U);
}

}  // namespace
}  // namespace heistd
