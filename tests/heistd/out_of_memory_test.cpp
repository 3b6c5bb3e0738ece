// Without memory a job still ends, whoever waits is answered, and nobody is told that the server
// shuts down.
#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <heistd/io_mail.hpp>

#include "api_fixture.hpp"
#include "no_address_space.hpp"
#include "no_memory.hpp"
#include "work_helpers.hpp"

namespace heistd {
namespace {

class OutOfMemoryJobs : public ApiFixture {
 protected:
  /// Runs a job without memory from the n-th allocation of the agent on; true when that made a
  /// difference.
  bool run_without_memory(std::string_view target, std::string_view body, std::size_t successes,
                          NoMemory::Fails fails) {
    const auto waits = call("POST", target, body);
    EXPECT_TRUE(waits.waiting);
    bool told = false;
    waits.waiting->job->on_finished = [&told] { told = true; };
    bool struck = false;
    {
      const NoMemory none(successes, fails);
      loop.run_until_idle();
      while (mail.open_one()) {
      }
      struck = none.struck();
    }
    EXPECT_TRUE(told) << target << " after " << successes << " allocations";
    const auto reply = answer(api.waited(*waits.waiting->job));
    if (reply.status != 200) {
      EXPECT_EQ(reply.status, 503U);
      EXPECT_EQ(reply.error(), "out_of_memory");
      EXPECT_EQ(reply.header("Retry-After"), "1");
      EXPECT_EQ(reply.json()["job"]["state"], "failed");
    }
    EXPECT_EQ(anonymous.budget->jobs(), 0U);
    EXPECT_EQ(anonymous.budget->bytes(), 0U);
    return struck;
  }
};

TEST_F(OutOfMemoryJobs, job_when_an_allocation_of_its_agent_fails_then_it_ends_and_says_why) {
  const std::string lines = "some x\n" + std::string(2 * block_bytes, '\n') + "more x";
  for (const auto* target :
       {"/jobs/digest?wait=1", "/jobs/compress?wait=1", "/jobs/search?wait=1&pattern=x"}) {
    for (const auto fails : {NoMemory::Fails::once, NoMemory::Fails::always}) {
      static_cast<void>(call("POST", target, lines));  // the pattern is known, the pool is warm
      run_all();
      std::size_t successes = 0;
      while (run_without_memory(target, lines, successes, fails)) ++successes;
      EXPECT_GT(successes, 0U) << target;
    }
  }
}

TEST_F(OutOfMemoryJobs, post_when_an_allocation_fails_then_503_out_of_memory_and_nothing_is_left) {
  for (std::size_t successes = 0;; ++successes) {
    auto ticket = anonymous.budget->take_job();
    JobRequest request;
    request.signal_name = "g";
    Blocks body{"bytes"};
    std::string code;
    bool struck = false;
    {
      const NoMemory none(successes, NoMemory::Fails::once);
      try {
        const auto job = service.submit(anonymous, request, std::move(body), std::move(*ticket));
        if (!job) code = job.error().code;
      } catch (const std::bad_alloc&) {  // which the caller answers in the same way
        code = "out_of_memory";
      }
      struck = none.struck();
    }
    ticket.reset();
    if (!struck) break;
    EXPECT_EQ(code, "out_of_memory") << successes;
    EXPECT_EQ(anonymous.budget->jobs(), 0U) << successes;
    EXPECT_EQ(anonymous.jobs.unfinished().size(), 0U);
    const auto group = anonymous.signals.find("g");
    EXPECT_EQ(group ? group->jobs().size() : 0U, 0U);
  }
  EXPECT_EQ(anonymous.jobs.unfinished().size(), 1U);
}

TEST_F(OutOfMemoryJobs, delete_when_there_is_no_memory_then_the_jobs_are_aborted_all_the_same) {
  std::vector<std::string> jobs;
  for (std::size_t i = 0; i < 2 * jobs_at_a_time + 1; ++i) {
    jobs.push_back(post("/jobs/digest?signal=g"));
  }
  {
    const NoMemory none(0);
    EXPECT_EQ(service.abort_group(anonymous, "g"), jobs.size());
  }
  EXPECT_EQ(anonymous.jobs.unfinished().size(), 0U);
  EXPECT_EQ(state(jobs.front()), "aborted");
}

// A sanitizer's malloc ends the process.
#if !defined(HEIST_SANITIZER_ADDRESS) && !defined(HEIST_SANITIZER_THREAD)
TEST(CompressWork, step_when_zstd_gets_no_memory_then_bad_alloc) {
  const auto work = make_compress_work(cut(std::string(16 * mib, 'x'), block_bytes));
  const NoAddressSpace none;
  EXPECT_THROW(work->step(chunk_budget), std::bad_alloc);
}
#endif

struct Opened final : Letter {
  explicit Opened(bool& its_flag) noexcept : flag(its_flag) {}
  void open() noexcept override { flag = true; }
  bool& flag;
};

TEST(IoMail, send_when_there_is_no_memory_then_delivered_all_the_same) {
  boost::asio::io_context io;
  IoMail mail(io);
  bool opened = false;
  auto letter = std::make_unique<Opened>(opened);
  {
    const NoMemory none(0);
    mail.send(std::move(letter));
  }
  io.run();
  EXPECT_TRUE(opened);
}

TEST(IoMail, io_context_when_it_goes_before_a_letter_is_opened_then_the_letter_goes_too) {
  bool opened = false;
  {
    boost::asio::io_context io;
    IoMail(io).send(std::make_unique<Opened>(opened));
  }
  EXPECT_FALSE(opened);
}

}  // namespace
}  // namespace heistd
