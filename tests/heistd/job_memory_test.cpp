// What jobs take is what the limits count.
#include <heistd/limits.hpp>

#include "api_fixture.hpp"
#include "no_memory.hpp"

namespace heistd {
namespace {

class JobMemory : public ApiFixture {
 protected:
  static Limits small_results() {
    Limits limits;
    limits.max_results = 100'000;
    limits.max_result_bytes = mib;
    return limits;
  }
  JobMemory() : ApiFixture(small_results()) {}

  /// What many finished jobs of one kind keep, at most.
  std::size_t kept_by(std::string_view target, std::string_view body) {
    post(target, body);
    run_all();
    const auto before = heap_bytes();
    const auto counted_before = anonymous.jobs.result_bytes();
    for (int i = 0; i < 3000; ++i) {
      post(target, body);
      run_all();
    }
    EXPECT_LE(anonymous.jobs.result_bytes(), mib);
    EXPECT_GT(anonymous.jobs.result_bytes(), mib / 2) << "the limit was not reached";
    return heap_bytes() - before + counted_before;
  }
};

TEST_F(JobMemory, frames_when_many_are_kept_then_no_more_memory_than_the_limit) {
  EXPECT_LE(kept_by("/jobs/compress", "small"), mib);
}
TEST_F(JobMemory, digests_when_many_are_kept_then_no_more_memory_than_the_limit) {
  EXPECT_LE(kept_by("/jobs/digest", ""), mib);
}
TEST_F(JobMemory, lines_when_many_are_kept_then_no_more_memory_than_the_limit) {
  EXPECT_LE(kept_by("/jobs/search?pattern=x", "x\ny\nx\n"), mib);
}

TEST_F(JobMemory, jobs_when_many_are_unfinished_then_no_more_memory_than_is_counted) {
  for (const auto* target :
       {"/jobs/digest?signal=g", "/jobs/compress?delay=1000", "/jobs/search?pattern=x"}) {
    post(target, "x");
    run_all();
    const auto before = heap_bytes();
    const auto counted_before = anonymous.budget->bytes();
    for (int i = 0; i < 1000; ++i) post(target, "x");
    EXPECT_LE(heap_bytes() - before, anonymous.budget->bytes() - counted_before) << target;
    // Of a small job, what is counted is not far from what it takes.
    if (std::string_view(target).starts_with("/jobs/digest")) {
      EXPECT_GE(2 * (heap_bytes() - before), anonymous.budget->bytes() - counted_before);
    }
    service.abort_all(anonymous, "the test");
    run_all();
  }
}

}  // namespace
}  // namespace heistd
