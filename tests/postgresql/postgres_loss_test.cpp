// Connections that are lost, and servers that are not there or do not answer.
#include <signal.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <stdexcept>

#include "postgresql/session_fixture.hpp"

namespace heistd {
namespace {

using std::chrono::milliseconds;

class PostgresLoss : public SessionFixture {
 protected:
  PostgresSession::Events events() {
    return {.on_connected =
                [this] {
                  ++connected_;
                  if (on_connected_) on_connected_();
                },
            .on_lost =
                [this](const PostgresError& error) {
                  ++lost_;
                  why_ = error.message;
                }};
  }
  /// Asks for something that lasts, and awaits that the server is at it.
  void begin_long_call(PostgresSession& session) {
    session.ask(statement("SELECT pg_sleep(100)"), answers_.next());
    await([this] { return number_of_process() != 0; });
  }
  std::int32_t number_of_process() {
    return one<std::int32_t>(
        "SELECT coalesce(max(pid), 0) FROM pg_stat_activity "
        "WHERE query = 'SELECT pg_sleep(100)' AND wait_event = 'PgSleep'");
  }
  /// Listens and says nothing.
  std::string silent_server() {
    silent_.emplace(io(),
                    boost::asio::ip::tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    return "host=127.0.0.1 port=" + std::to_string(silent_->local_endpoint().port());
  }

  int connected_ = 0;
  int lost_ = 0;
  std::string why_;
  std::function<void()> on_connected_;
  Answers answers_;
  std::optional<boost::asio::ip::tcp::acceptor> silent_;
};

TEST_F(PostgresLoss, loss_when_calls_were_sent_then_only_their_outcome_is_unknown) {
  const auto session = open({}, events());
  begin_long_call(*session);
  session->ask(statement("SELECT 7"), answers_.next());
  call("SELECT pg_terminate_backend($1)", number_of_process());
  await([this] { return answers_.are_there(); });
  EXPECT_EQ(error_of(answers_[0]).fault, PostgresFault::outcome_unknown);
  EXPECT_EQ(error_of(answers_[0]).sqlstate, "57P01");
  ASSERT_TRUE(answers_[1].has_value()) << describe(answers_[1].error());
  EXPECT_EQ(answers_[1]->get<std::int32_t>(0, 0), 7);
  EXPECT_EQ(connected_, 2);
  EXPECT_EQ(lost_, 1);
}

TEST_F(PostgresLoss, loss_when_it_comes_at_any_time_then_what_was_answered_is_true) {
  constexpr std::size_t calls = 100;
  call("CREATE TABLE tested.numbers(number int8 UNIQUE)");
  const auto session = open({.max_batch = 5}, events());
  for (int round = 0; round < 20; ++round) {
    Answers answers;
    for (std::size_t i = 0; i < calls; ++i) {
      session->ask({{"insert", "INSERT INTO tested.numbers VALUES ($1)"},
                    PostgresParameters(static_cast<std::int64_t>(i))},
                   answers.next());
    }
    await([&] { return answers.order().size() > static_cast<std::size_t>(round); });
    call(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
    await([&] { return answers.are_there() && lost_ > round; });
    const auto stored = one<std::vector<std::int64_t>>(
        "WITH gone AS (DELETE FROM tested.numbers RETURNING number) "
        "SELECT coalesce(array_agg(number), '{}') FROM gone");
    for (std::size_t i = 0; i < calls; ++i) {
      const bool is_stored = std::ranges::count(stored, answers.order()[i]) == 1;
      if (error_of(answers[i]).fault == PostgresFault::outcome_unknown) continue;
      EXPECT_EQ(answers[i].has_value(), is_stored) << "call " << answers.order()[i];
    }
  }
}

TEST_F(PostgresLoss, loss_when_the_server_crashes_then_calls_go_on_once_it_has_recovered) {
  const auto session = open({.wait_time = std::chrono::minutes(1)}, events());
  begin_long_call(*session);
  // As if it had crashed: the server ends all sessions at once, and starts anew.
  ASSERT_EQ(::kill(number_of_process(), SIGKILL), 0);
  session->ask(statement("SELECT 7"), answers_.next());
  await([this] { return answers_.are_there(); });
  EXPECT_EQ(error_of(answers_[0]).fault, PostgresFault::outcome_unknown);
  EXPECT_TRUE(answers_[1].has_value());
  EXPECT_GE(lost_, 1);
}

TEST_F(PostgresLoss, batch_when_the_server_does_not_answer_in_time_then_its_outcome_is_unknown) {
  const auto session = open({.batch_time = milliseconds(1000)}, events());
  // Each of them is short enough for the server.
  for (int i = 0; i < 3; ++i) session->ask(statement("SELECT pg_sleep(0.4)"), answers_.next());
  await([this] { return answers_.are_there(); });
  EXPECT_EQ(error_of(answers_[0]).fault, PostgresFault::outcome_unknown);
  EXPECT_EQ(error_of(answers_[0]).message, "PostgreSQL has not answered in time");
}

TEST_F(PostgresLoss, connect_when_the_server_says_nothing_then_it_is_tried_again) {
  const auto session = open({.connect_time = milliseconds(50)}, events(), silent_server());
  await([this] { return lost_ == 2; });
  EXPECT_EQ(connected_, 0);
  EXPECT_EQ(why_, "PostgreSQL has not taken the connection in time");
}

TEST_F(PostgresLoss, ask_when_there_is_no_server_then_calls_wait_for_a_while_and_few_of_them) {
  const auto session =
      open({.wait_time = milliseconds(50), .max_waiting = 3}, events(), "host=/nonexistent");
  for (int i = 0; i < 3; ++i) session->ask(statement("SELECT 1"), answers_.next());
  EXPECT_EQ(session->waiting(), 3U);
  session->ask(statement("SELECT 1"), answers_.next());
  EXPECT_EQ(error_of(answers_[0]).fault, PostgresFault::too_many_waiting);
  await([this] { return answers_.are_there(); });
  EXPECT_EQ(answers_.order(), (std::vector<std::size_t>{3, 0, 1, 2}));
  for (std::size_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(error_of(answers_[i]).fault, PostgresFault::no_connection);
    EXPECT_NE(error_of(answers_[i]).message.find("/nonexistent"), std::string::npos);
  }
}

TEST_F(PostgresLoss, connect_when_the_host_is_a_name_then_its_addresses_are_tried) {
  const auto session = open({}, events(), "host=nonexistent.invalid,localhost");
  EXPECT_TRUE(ask(*session, "SELECT inet_server_port()").has_value()) << why_;
}

TEST_F(PostgresLoss, connect_when_the_host_has_no_address_then_that_is_said) {
  const auto session = open({}, events(), "host=nonexistent.invalid");
  await([this] { return lost_ == 1; });
  EXPECT_TRUE(why_.starts_with("the host of PostgreSQL has no address: nonexistent.invalid: "))
      << why_;
}

TEST_F(PostgresLoss, connect_when_there_are_settings_then_they_stay_beside_those_of_the_session) {
  const auto session = open({}, events(), "options='-c search_path=tested'");
  const auto path = ask(*session, "SHOW search_path");
  EXPECT_EQ(path->get<std::string_view>(0, 0), "tested");
  const auto time = ask(*session, "SHOW statement_timeout");
  EXPECT_EQ(time->get<std::string_view>(0, 0), "8s");
}

TEST_F(PostgresLoss, ask_first_when_calls_wait_already_then_it_comes_before_them) {
  const auto session = open({}, events());
  on_connected_ = [&] {
    session->ask_first(statement("SELECT 1"), [&, done = answers_.next()](PostgresResult result) {
      done(std::move(result));
      session->ask_first(statement("SELECT 2"), answers_.next());
    });
  };
  session->ask(statement("SELECT 3"), answers_.next());
  await([this] { return answers_.order().size() == 3; });
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(answers_[i]->get<std::int32_t>(0, 0), static_cast<std::int32_t>(i + 1));
}

TEST_F(PostgresLoss, ask_first_when_it_is_refused_then_calls_wait_for_the_next_connection) {
  const auto session = open({}, events());
  on_connected_ = [&] {
    session->ask_first(statement(connected_ == 1 ? "SELECT 1 / 0" : "SELECT 1"), answers_.next());
  };
  session->ask(statement("SELECT 7"), answers_.next());
  await([this] { return answers_.order().size() == 3; });
  EXPECT_EQ(error_of(answers_[0]).sqlstate, "22012");
  EXPECT_EQ(connected_, 2);
  EXPECT_EQ(why_, "a first call was refused: division by zero");
  EXPECT_EQ(answers_[2]->get<std::int32_t>(0, 0), 7);
}

TEST_F(PostgresLoss, opening_when_it_is_refused_then_calls_wait_for_a_connection_that_may_go_on) {
  constexpr auto opening = "SELECT 1 / current_setting('tested.number')::int";
  int refused = 0;
  auto told = events();
  told.on_opening_refused = [&](const PostgresError& /*error*/) { ++refused; };
  const auto session = open({}, told, "", statement(opening));
  on_connected_ = [&] {
    const auto* const number = connected_ == 1 ? "SELECT set_config('tested.number', '0', false)"
                                               : "SELECT set_config('tested.number', '1', false)";
    session->ask_first(statement(number), [](const PostgresResult& /*set*/) {});
  };
  for (int i = 0; i < 2; ++i) session->ask(statement("SELECT 7"), answers_.next());
  session->ask(statement("SELECT 1 / 0"), answers_.next());
  await([this] { return answers_.are_there(); });
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(connected_, 2);
  EXPECT_EQ(answers_[0]->get<std::int32_t>(0, 0), 7);
  EXPECT_EQ(answers_[1]->get<std::int32_t>(0, 0), 7);
  EXPECT_EQ(error_of(answers_[2]).sqlstate, "22012");
}

TEST_F(PostgresLoss, drop_when_there_is_a_connection_then_another_one_is_made) {
  const auto session = open({}, events());
  await([this] { return connected_ == 1; });
  session->drop("it is of no use");
  EXPECT_EQ(why_, "it is of no use");
  EXPECT_TRUE(ask(*session, "SELECT 1").has_value());
  EXPECT_EQ(connected_, 2);
}

TEST_F(PostgresLoss, end_when_calls_are_under_way_or_wait_then_all_are_answered) {
  auto session = open({}, events());
  begin_long_call(*session);
  session->ask(statement("SELECT 7"), [&, again = answers_.next(), done = answers_.next(),
                                       running = session.get()](PostgresResult result) {
    running->ask(statement("SELECT 8"), again);
    done(std::move(result));
  });
  session.reset();
  ASSERT_TRUE(answers_.are_there());
  EXPECT_EQ(error_of(answers_[0]).fault, PostgresFault::outcome_unknown);
  EXPECT_EQ(error_of(answers_[1]).fault, PostgresFault::no_connection);
  EXPECT_EQ(error_of(answers_[2]).fault, PostgresFault::no_connection);
  await([this] { return number_of_process() == 0; });  // the server has noticed
}

TEST(PostgresTarget, text_when_it_cannot_be_read_then_no_part_of_it_is_told) {
  for (const auto* text : {"password=secret host", "postgresql://me:sec%ret@db", "secret",
                           "postgresql://me:secret@secret@db/jobs",
                           "password=secret host=a,b port=1,2,3", "service=secret"}) {
    try {
      static_cast<void>(PostgresTarget(text));
      ADD_FAILURE() << text << " was taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()).find("sec"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace heistd
