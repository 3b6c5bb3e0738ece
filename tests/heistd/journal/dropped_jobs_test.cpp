// Jobs of a deleted signal that the job log tells of.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <heistd/signal_group.hpp>
#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <utility>

#include "kept_jobs_fixture.hpp"
#include "scratch_directory.hpp"

namespace heistd {
namespace {

/// Says what it has of a job when the test wants that.
struct SlowFinds : MemoryJournal {
  using Found = JournalResult<std::optional<StoredJob>>;

  Answer<std::optional<StoredJob>> find(JobId id) override {
    auto answer = heist::Promise<Found>::with_resolver();
    asked.emplace_back(std::move(id), std::move(answer.resolver));
    return std::move(answer.promise);
  }
  void answer_one() {
    auto [id, resolver] = std::move(asked.front());
    asked.pop_front();
    resolver.resolve(said(MemoryJournal::find(std::move(id))));
  }

  std::list<std::pair<JobId, heist::Resolver<Found>>> asked;
};

class DroppedJobs : public KeptJobs {
 protected:
  std::size_t lines() const {
    std::ifstream log(path);
    return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(log), {}, '\n'));
  }
  void make_jobs_of_a_signal(int count) {
    for (int i = 0; i < count; ++i) {
      auto job = new_job(i);
      job.kind = "digest";
      job.signal_name = "night";
      job.delay = std::chrono::hours(1);
      said(slow.submit(std::move(job)));
    }
    for (const auto& job : said(slow.load_unfinished(0, 10'000))) {
      service->restore(anonymous, *kinds.find("digest"), job);
    }
  }

  const ScratchDirectory folder;
  const std::filesystem::path path = folder.path() / "jobs.log";
  SlowFinds slow;
  JobKeeper its_keeper{slow, network.get_executor()};
  std::optional<JobService> service{std::in_place, loop.scheduler(), network.get_executor(),
                                    &its_keeper, path.string()};
};

TEST_F(DroppedJobs,
       signal_when_many_jobs_of_it_wait_then_the_journal_is_asked_for_a_batch_at_once) {
  constexpr int many = 1000;
  make_jobs_of_a_signal(many);
  said(slow.drop_signal("alice", "night"));
  EXPECT_EQ(service->abort_group(anonymous, "night"), many);
  std::size_t most = 0;
  for (run_network(); !slow.asked.empty(); run_network()) {
    most = std::max(most, slow.asked.size());
    slow.answer_one();
  }
  EXPECT_EQ(most, jobs_at_a_time);
  EXPECT_EQ(anonymous.waiting.size(), 0U);
  EXPECT_EQ(anonymous.stats_of(heist::TaskPriority::user_visible).aborted, many);
  service.reset();  // which waits for the log
  EXPECT_EQ(lines(), many);
}

}  // namespace
}  // namespace heistd
