// What becomes of requests of which the answers are lost, and of too many.
#include <heistd/postgresql/postgres_requests.hpp>

#include "postgresql/session_fixture.hpp"

namespace heistd {
namespace {

using std::chrono::milliseconds;

class PostgresRequestsTest : public SessionFixture {
 protected:
  /// Runs one statement when it is made for the first time, and another when it is made again.
  PostgresRequests::Other request(const char* first, const char* again) {
    return {[first, again](bool is_again) { return statement(is_again ? again : first); },
            answers_.next()};
  }
  void end_sleeper() {
    await([this] {
      return one<bool>(
          "SELECT count(pg_terminate_backend(pid)) > 0 FROM pg_stat_activity "
          "WHERE query LIKE '%pg_sleep(100)' AND pid <> pg_backend_pid()");
    });
  }
  static PostgresRequests::Clock no_clock() {
    return [] { return std::nullopt; };
  }

  Answers answers_;
};

constexpr auto sleep = "SELECT pg_sleep(100)";

TEST_F(PostgresRequestsTest, repetition_when_it_is_refused_then_the_outcome_is_unknown) {
  const auto session = open();
  PostgresRequests requests(*session, {}, no_clock());
  requests.ask(request(sleep, "SELECT 1 / 0"));
  end_sleeper();
  await([this] { return answers_.are_there(); });
  EXPECT_EQ(error_of(answers_[0]).fault, PostgresFault::outcome_unknown);
  EXPECT_EQ(error_of(answers_[0]).message, "division by zero");
}

TEST_F(PostgresRequestsTest, repetition_when_its_answer_is_always_lost_then_it_ends) {
  const auto session = open();
  PostgresRequests requests(*session, {}, no_clock());
  requests.ask(request(sleep, sleep));
  for (int time = 0; time < 3; ++time) end_sleeper();
  await([this] { return answers_.are_there(); });
  EXPECT_EQ(error_of(answers_[0]).fault, PostgresFault::outcome_unknown);
}

TEST_F(PostgresRequestsTest, repetition_when_other_batches_wait_then_it_comes_before_them) {
  const auto session = open({.max_batch = 1});
  PostgresRequests requests(*session, {.max_batch = 1}, no_clock());
  requests.ask(request("SELECT 1", "SELECT 1"));  // the others are sent together
  requests.ask(request(sleep, "SELECT 2"));
  requests.ask(request("SELECT 3", "SELECT 3"));
  end_sleeper();
  await([this] { return answers_.are_there(); });
  EXPECT_EQ(answers_.order(), (std::vector<std::size_t>{0, 1, 2}));
}

TEST_F(PostgresRequestsTest, ask_when_too_much_waits_then_it_is_refused) {
  const auto session = open({.wait_time = milliseconds(50)}, {}, "host=/nonexistent");
  PostgresRequests requests(*session, {.max_waiting = 2}, no_clock());
  for (int i = 0; i < 4; ++i) requests.ask(request("SELECT 1", "SELECT 1"));
  ASSERT_EQ(answers_.order(), (std::vector<std::size_t>{3}));
  EXPECT_EQ(error_of(answers_[0]).fault, PostgresFault::too_many_waiting);
  await([this] { return answers_.are_there(); });
}

TEST_F(PostgresRequestsTest, ask_when_many_jobs_wait_then_no_statement_has_more_than_a_batch) {
  const auto session = open({.wait_time = milliseconds(50)}, {}, "host=/nonexistent");
  PostgresRequests requests(*session, {.max_batch = 2, .max_batch_bytes = 100}, no_clock());
  int refused = 0;
  const auto submit = [&](std::size_t payload_bytes) {
    NewJob job;
    job.id = make_job_id();
    job.payload = std::make_shared<const Blocks>(1, std::string(payload_bytes, 'x'));
    requests.ask(PostgresRequests::Submission{{job}, [&](const auto& /*error*/) { ++refused; }});
  };
  requests.ask(request("SELECT 1", "SELECT 1"));
  for (const std::size_t bytes : {0U, 0U, 60U, 30U, 20U, 90U, 20U}) submit(bytes);
  await([&] { return answers_.are_there(); });
  EXPECT_EQ(session->waiting(), 5U);
  await([&] { return refused == 7; });
}

/// The schema is not the one that this version of heistd has made.
class AnotherSchema : public PostgresRequestsTest {
 protected:
  void ask_to_complete(std::size_t jobs) {
    requests_.ask(request("SELECT 1", "SELECT 1"));  // what comes while this runs is one statement
    for (std::size_t job = 0; job < jobs; ++job) {
      requests_.ask(PostgresRequests::Completion{
          {}, {}, [this](const auto& effect) { faults_.push_back(effect.error().fault); }});
    }
    await([&] { return faults_.size() == jobs; });
  }

  std::vector<PostgresFault> faults_;
  const std::unique_ptr<PostgresSession> session_ =
      open({}, {}, "", statement("SET LOCAL search_path TO tested"));
  PostgresRequests requests_{*session_, {}, no_clock()};
};

TEST_F(AnotherSchema, complete_when_the_answer_has_another_type_then_it_is_unreadable) {
  call(
      "CREATE FUNCTION tested.complete(date[], bigint[], int[], bytea[], bytea[], boolean, "
      "timestamptz) RETURNS text LANGUAGE sql AS $$ SELECT 'done' $$");
  ask_to_complete(2);
  EXPECT_EQ(faults_, std::vector(2, PostgresFault::unreadable));
}

TEST_F(AnotherSchema, complete_when_the_answer_is_of_fewer_jobs_then_it_is_unreadable) {
  call(
      "CREATE FUNCTION tested.complete(date[], bigint[], int[], bytea[], bytea[], boolean, "
      "timestamptz) RETURNS boolean[] LANGUAGE sql AS $$ SELECT '{true}'::boolean[] $$");
  ask_to_complete(2);
  EXPECT_EQ(faults_, std::vector(2, PostgresFault::unreadable));
}

TEST_F(AnotherSchema, submit_when_the_answer_is_of_fewer_jobs_then_nobody_is_told_another) {
  call(
      "CREATE FUNCTION tested.submit_all(uuid[], bytea[], bytea[], bytea[], bytea[], smallint[], "
      "smallint[], bigint[], bigint[], bigint[], uuid[], int[], bytea[], bytea[], bytea[], "
      "bytea[], boolean, timestamptz, OUT acceptance smallint, OUT id uuid, OUT follows boolean) "
      "LANGUAGE sql AS $$ SELECT 0::smallint, NULL::uuid, false $$");
  requests_.ask(request("SELECT 1", "SELECT 1"));
  for (int count = 0; count < 2; ++count) {
    NewJob job;
    job.id = make_job_id();
    requests_.ask(PostgresRequests::Submission{
        {job}, [this](const auto& submitted) { faults_.push_back(submitted.error().fault); }});
  }
  await([&] { return faults_.size() == 2; });
  EXPECT_EQ(faults_, std::vector(2, PostgresFault::unreadable));
}

}  // namespace
}  // namespace heistd
