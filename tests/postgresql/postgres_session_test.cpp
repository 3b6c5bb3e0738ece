// Calls share transactions, come in order, and do not fail each other.
#include <numeric>

#include "postgresql/session_fixture.hpp"

namespace heistd {
namespace {

class PostgresSessionCalls : public SessionFixture {
 protected:
  PostgresSessionCalls() : session_(open()) {
    call("CREATE TABLE tested.numbers(place bigserial, number int8 UNIQUE)");
    call("CREATE SEQUENCE tested.tries");
  }

  template <class... Values>
  void add(const char* text, const Values&... values) {
    session_->ask({{text, text}, PostgresParameters(values...)}, answers_.next());
  }
  void insert(std::int64_t number) {
    add("INSERT INTO tested.numbers(number) VALUES ($1)", number);
  }
  void await_answers() {
    await([this] { return answers_.are_there(); });
  }
  std::vector<std::int64_t> stored() {
    return one<std::vector<std::int64_t>>(
        "SELECT coalesce(array_agg(number ORDER BY place), '{}') FROM tested.numbers");
  }

  std::unique_ptr<PostgresSession> session_;
  Answers answers_;
};

TEST_F(PostgresSessionCalls, ask_when_several_are_asked_together_then_they_are_one_transaction) {
  for (int i = 0; i < 3; ++i) add("SELECT pg_current_xact_id()::text");
  await_answers();
  const auto number = [this](std::size_t i) { return answers_[i]->get<std::string_view>(0, 0); };
  EXPECT_EQ(number(0), number(1));
  EXPECT_EQ(number(0), number(2));
  add("SELECT pg_current_xact_id()::text");
  await_answers();
  EXPECT_NE(number(0), number(3));
}

TEST_F(PostgresSessionCalls, ask_alone_when_others_are_asked_together_then_it_has_a_transaction) {
  const char* const text = "SELECT pg_current_xact_id()::text";
  add(text);
  session_->ask_alone(statement(text), answers_.next());
  add(text);
  await_answers();
  const auto number = [this](std::size_t i) { return answers_[i]->get<std::string_view>(0, 0); };
  EXPECT_NE(number(1), number(0));
  EXPECT_NE(number(1), number(2));
  EXPECT_EQ(answers_.order(), (std::vector<std::size_t>{0, 1, 2}));
}

TEST_F(PostgresSessionCalls, ask_when_one_of_a_batch_is_refused_then_the_others_take_effect) {
  for (const auto number : {1, 2, 2, 3, 1, 4}) insert(number);
  await_answers();
  EXPECT_EQ(error_of(answers_[2]).sqlstate, "23505");
  EXPECT_EQ(error_of(answers_[2]).fault, PostgresFault::refused);
  EXPECT_EQ(error_of(answers_[4]).sqlstate, "23505");
  for (const auto i : {0U, 1U, 3U, 5U}) EXPECT_TRUE(answers_[i].has_value()) << i;
  EXPECT_EQ(stored(), (std::vector<std::int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(answers_.order(), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
}

TEST_F(PostgresSessionCalls, ask_when_all_of_a_batch_are_refused_then_each_is) {
  for (int i = 0; i < 20; ++i) add("SELECT 1 / 0");
  await_answers();
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(error_of(answers_[i]).sqlstate, "22012");
}

TEST_F(PostgresSessionCalls, ask_when_the_commit_fails_then_only_what_has_caused_that_is_refused) {
  call(
      "ALTER TABLE tested.numbers ADD previous int8 "
      "REFERENCES tested.numbers(number) DEFERRABLE INITIALLY DEFERRED");
  insert(1);
  add("INSERT INTO tested.numbers(number, previous) VALUES (2, 77)");
  insert(3);
  await_answers();
  EXPECT_EQ(error_of(answers_[1]).sqlstate, "23503");
  EXPECT_EQ(stored(), (std::vector<std::int64_t>{1, 3}));
}

TEST_F(PostgresSessionCalls,
       ask_when_the_text_is_no_sql_then_it_is_refused_and_the_next_one_is_not) {
  add("SELEKT");
  add("SELEKT");
  insert(1);
  await_answers();
  EXPECT_EQ(error_of(answers_[0]).sqlstate, "42601");
  EXPECT_EQ(error_of(answers_[1]).sqlstate, "42601");
  EXPECT_EQ(stored(), std::vector<std::int64_t>{1});
}

TEST_F(PostgresSessionCalls, ask_when_there_are_many_then_they_take_effect_in_their_order) {
  std::vector<std::int64_t> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (const auto number : numbers) insert(number);
  await_answers();
  EXPECT_EQ(stored(), numbers);
  std::vector<std::size_t> order(numbers.begin(), numbers.end());
  EXPECT_EQ(answers_.order(), order);
}

/// What each side sends does not fit into the buffers between them, so that both would wait for
/// ever if one did not read while it writes.
TEST_F(PostgresSessionCalls, ask_when_both_directions_are_full_then_all_are_answered) {
  const std::string bytes(20'000, 'x');
  for (int i = 0; i < 2000; ++i) add("SELECT $1", PostgresBytes{bytes});
  await_answers();
  for (std::size_t i = 0; i < 2000; ++i)
    ASSERT_EQ(answers_[i]->get<PostgresBytes>(0, 0).bytes, bytes) << i;
}

TEST_F(PostgresSessionCalls, ask_when_others_are_in_its_way_then_the_batch_is_run_again) {
  // A sequence is not rolled back.
  call(
      "CREATE FUNCTION tested.conflict(last int8) RETURNS int8 LANGUAGE plpgsql AS $$ BEGIN "
      "IF nextval('tested.tries') < last THEN RAISE EXCEPTION USING ERRCODE = '40001'; END IF; "
      "RETURN last; END $$");
  insert(1);
  add("SELECT tested.conflict($1)", std::int64_t{3});
  await_answers();
  EXPECT_TRUE(answers_[0].has_value());
  EXPECT_TRUE(answers_[1].has_value());
  EXPECT_EQ(stored(), std::vector<std::int64_t>{1});
  EXPECT_EQ(one<std::int64_t>("SELECT last_value FROM tested.tries"), 3);

  add("SELECT tested.conflict($1)", std::int64_t{1000});
  await_answers();
  EXPECT_EQ(error_of(answers_[2]).sqlstate, "40001");
  EXPECT_LT(one<std::int64_t>("SELECT last_value FROM tested.tries"), 20);
}

TEST_F(PostgresSessionCalls, ask_when_a_statement_takes_too_long_then_the_server_cancels_it) {
  const auto session = open({.batch_time = std::chrono::milliseconds(1000)});
  const auto result = ask(*session, "SELECT pg_sleep(100)");
  EXPECT_EQ(error_of(result).sqlstate, "57014");
  EXPECT_EQ(error_of(result).fault, PostgresFault::refused);
}

TEST_F(PostgresSessionCalls, notify_when_the_channel_is_listened_to_then_the_payload_comes) {
  std::vector<PostgresNotification> told;
  PostgresSession* session = nullptr;
  bool listens = false;
  const auto listening =
      open({}, {.on_connected =
                    [&] {
                      session->ask_first(statement("LISTEN tested"),
                                         [&](const PostgresResult& r) { listens = r.has_value(); });
                    },
                .on_notification = [&](const auto& one) { told.push_back(one); }});
  session = listening.get();
  await([&] { return listens; });
  call("NOTIFY tested, 'first'");
  call("NOTIFY tested, 'second'");
  await([&] { return told.size() == 2; });
  EXPECT_EQ(told[0].channel, "tested");
  EXPECT_EQ(told[0].payload, "first");
  EXPECT_EQ(told[1].payload, "second");
}

}  // namespace
}  // namespace heistd
