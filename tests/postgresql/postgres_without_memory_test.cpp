// What a server does with its queue in PostgreSQL when there is no memory for a moment.
#include <heistd/postgresql/postgres_hints.hpp>
#include <heistd/postgresql/postgres_lease.hpp>
#include <heistd/postgresql/postgres_requests.hpp>

#include "heistd/no_memory.hpp"
#include "postgresql/session_fixture.hpp"

namespace heistd {
namespace {

using std::chrono::milliseconds;

/// Does it with memory for so many allocations; whether it has asked for more.
template <class Step>
bool lacks_memory(std::size_t allocations, Step step) {
  try {
    const NoMemory none(allocations);
    step();
    return none.struck();
  } catch (const std::bad_alloc&) {
    return true;
  }
}

class PostgresWithoutMemory : public SessionFixture {
 protected:
  std::unique_ptr<PostgresSession> session_ = open();
};

TEST_F(PostgresWithoutMemory, tell_when_it_fails_then_later_hints_come_still) {
  std::size_t heard = 0;
  const auto listening = open({}, {.on_notification = [&](const auto& /*hint*/) { ++heard; }});
  ask(*listening, "LISTEN heistd");
  bool failed = true;
  for (std::size_t allocations = 0; failed; ++allocations) {
    PostgresHints hints(*session_, io().get_executor());
    failed = lacks_memory(allocations, [&] { hints.tell(); });
    for (int time = 0; time < 2; ++time) {  // the first one may hear of the one that failed
      hints.tell();
      await([&heard, before = heard] { return heard > before; });
    }
  }
}

TEST_F(PostgresWithoutMemory, ask_when_it_fails_then_later_requests_are_answered_still) {
  PostgresRequests requests(*session_, {}, [] { return std::nullopt; });
  const auto request = [](PostgresSession::Done done) {
    return PostgresRequests::Other{[](bool /*again*/) { return statement("SELECT 1"); },
                                   std::move(done)};
  };
  bool failed = true;
  for (std::size_t allocations = 0; failed; ++allocations) {
    auto failing = request([](const PostgresResult& /*any*/) {});
    failed = lacks_memory(allocations, [&] { requests.ask(std::move(failing)); });
    Answers answers;
    requests.ask(request(answers.next()));
    await([&] { return answers.are_there(); });
  }
}

TEST(PostgresLeaseWithoutMemory, renewed_when_it_fails_then_the_lease_lapses_still) {
  bool failed = true;
  for (std::size_t allocations = 0; failed; ++allocations) {
    boost::asio::io_context io;
    int lapses = 0;
    PostgresLease lease(io.get_executor(), milliseconds(400), {[] {}, [&] { ++lapses; }});
    lease.renewed(PostgresLease::Clock::now());
    io.run_one();  // it is to be renewed
    failed = lacks_memory(allocations, [&] { lease.renewed(PostgresLease::Clock::now()); });
    io.run();
    EXPECT_EQ(lapses, 1) << allocations;
  }
}

}  // namespace
}  // namespace heistd
