// Hints that servers give each other.
#include <heistd/postgresql/postgres_hints.hpp>

#include "heistd/no_memory.hpp"
#include "postgresql/session_fixture.hpp"

namespace heistd {
namespace {

class HintsFixture : public SessionFixture {
 protected:
  std::size_t heard_ = 0;
  std::unique_ptr<PostgresSession> listening_ =
      open({}, {.on_notification = [this](const auto& /*hint*/) { ++heard_; }});
  std::unique_ptr<PostgresSession> telling_ = open();
};

TEST_F(HintsFixture, tell_when_there_is_no_memory_then_later_hints_come_still) {
  ask(*listening_, "LISTEN heistd");
  bool failed = true;
  for (std::size_t successes = 0; failed; ++successes) {
    PostgresHints hints(*telling_, io().get_executor());
    try {
      const NoMemory none(successes);
      hints.tell();
      failed = none.struck();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    for (int time = 0; time < 2; ++time) {  // the first one may hear of the one that failed
      hints.tell();
      await([this, before = heard_] { return heard_ > before; });
    }
  }
}

}  // namespace
}  // namespace heistd
