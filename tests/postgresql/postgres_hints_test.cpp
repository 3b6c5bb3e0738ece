// Hints that servers give each other.
#include <heistd/postgresql/postgres_hints.hpp>

#include "postgresql/session_fixture.hpp"

namespace heistd {
namespace {

class PostgresHintsTest : public SessionFixture {};

TEST_F(PostgresHintsTest, tell_when_others_are_asked_for_then_it_shares_no_transaction_with_them) {
  const auto session = open();
  PostgresHints hints(*session, io().get_executor());
  Answers answers;
  const auto ask_for_number = [&] {
    session->ask(statement("SELECT pg_current_xact_id()::text"), answers.next());
  };
  ask_for_number();
  hints.tell();
  ask_for_number();
  await([&] { return answers.are_there(); });
  EXPECT_NE(answers[0]->get<std::string_view>(0, 0), answers[1]->get<std::string_view>(0, 0));
}

}  // namespace
}  // namespace heistd
