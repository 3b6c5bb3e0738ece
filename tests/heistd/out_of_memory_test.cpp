// Without memory a job still ends, whoever waits is answered, and nobody is told that the server
// shuts down.
#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_executor.hpp>
#include <heist/asio/async_wait.hpp>

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
    waits.waiting->job->on_finished.emplace_back([&told] { told = true; });
    bool struck = false;
    {
      const NoMemory none(successes, fails);
      loop.run_until_idle();
      run_network();
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
    JobRequest request{.kind = kinds.find("digest")};
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
    run_all();  // an agent drops what was posted before memory ran out
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

/// What agents settle reaches the network without memory, also by the executor of its coroutines.
TEST_F(OutOfMemoryJobs, promise_when_it_settles_without_memory_then_the_network_hears_of_it) {
  const boost::asio::any_io_executor coroutines = network.get_executor();
  auto [promise, resolver] = heist::Promise<int>::with_resolver();
  int told = 0;
  const auto tell = [&told](const std::exception_ptr& /*error*/, int value) { told += value; };
  heist::async_wait(promise, boost::asio::bind_executor(network, tell));
  heist::async_wait(promise, boost::asio::bind_executor(coroutines, tell));
  {
    const NoMemory none(0);
    resolver.resolve(1);
  }
  run_network();
  EXPECT_EQ(told, 2);
}

TEST_F(OutOfMemoryJobs, dump_when_an_allocation_fails_then_the_next_one_is_made) {
  clients.set_operator("anonymous");
  bool struck = true;
  for (std::size_t successes = 0; struck; ++successes) {
    Answer waits;
    {
      const NoMemory none(successes, NoMemory::Fails::once);
      try {
        waits.observation = *observer.dump();
      } catch (const std::bad_alloc&) {  // which the caller answers
        run_network();
      }
      struck = none.struck();
    }
    if (waits.observation) made(waits);
    EXPECT_EQ(made(call("GET", "/debug/dump")).status, 200U) << successes;
  }
}

class OutOfMemoryEvents : public ApiFixture {
 protected:
  static std::string take_all(EventStream& stream) {
    stream.wake();
    std::string text;
    while (stream.has_more()) text += stream.take();
    return text;
  }
};

TEST_F(OutOfMemoryEvents,
       event_when_it_cannot_be_made_then_the_listener_hears_that_it_missed_some) {
  const auto stream = anonymous.events.listen({});
  const auto group = anonymous.signals.find_or_make("night", heist::TaskPriority::background);
  anonymous.events.signal_changed("night", *group);
  static_cast<void>(take_all(*stream));
  bool struck = true;
  for (std::size_t successes = 0; struck; ++successes) {
    {
      const NoMemory none(successes);
      anonymous.events.signal_changed("night", *group);
      struck = none.struck();
    }
    const auto told = take_all(*stream);
    EXPECT_EQ(told.find("event: missed") != std::string::npos, struck) << told;
  }
}

TEST_F(OutOfMemoryEvents, listen_when_an_allocation_fails_then_refused_and_nothing_is_kept) {
  bool struck = true;
  for (std::size_t successes = 0; struck; ++successes) {
    const NoMemory none(successes, NoMemory::Fails::once);
    try {
      const auto stream = anonymous.events.listen({});
      EXPECT_TRUE(anonymous.events.is_open());
    } catch (const std::bad_alloc&) {
      EXPECT_TRUE(none.struck());
    }
    struck = none.struck();
  }
}

}  // namespace
}  // namespace heistd
