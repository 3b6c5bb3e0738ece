// Results that only a journal has, on their way to a client.
#include <string>
#include <utility>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

class StoredResults : public KeptJobs {
 protected:
  JobId done(const std::string& bytes) {
    auto job = new_job(1);
    job.client = "anonymous";
    const auto id = job.id;
    said(journal.submit(std::move(job)));
    said(journal.start(id, any_priority));
    said(journal.complete(id, first_attempt, {"bytes application/zstd", blocks(bytes)}));
    return id;
  }
};

TEST_F(StoredResults, get_then_it_is_read_in_pieces) {
  const std::string bytes(5 * block_bytes / 2, 'x');
  const auto id = done(bytes);
  const auto result = ask("GET", "/jobs/" + id + "/result");
  EXPECT_EQ(result.status, 200U);
  EXPECT_EQ(result.body, bytes);
  EXPECT_LE(journal.largest_read, block_bytes);
}

TEST_F(StoredResults, get_when_the_job_is_forgotten_meanwhile_then_there_is_no_next_piece) {
  const auto id = done(std::string(2 * block_bytes, 'x'));
  const auto outcome = begin("GET", "/jobs/" + id + "/result");
  run_network();
  auto found = std::get<Storing>(outcome).then();
  run_network();
  const auto reply = std::get<Reply>(std::get<Storing>(found).then());
  EXPECT_EQ(reply.body.size(), block_bytes);
  EXPECT_EQ(reply.bytes(), 2 * block_bytes);
  said(journal.purge(id));
  const auto next = reply.rest->next();
  run_network();
  EXPECT_EQ(next.get(), std::nullopt);
}

}  // namespace
}  // namespace heistd
