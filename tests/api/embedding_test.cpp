// EventLoop in a foreign loop: the wake-up descriptor, with a real poll(2). Issue: "a wake-up file
// descriptor for foreign loops". Rule: CLU-4, DLY-1, ABT-4.
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <heist/heist.hpp>
#include <memory>
#include <thread>
#include <utility>

#include "api/probes.hpp"
#include "support/readable.hpp"

namespace heist {
namespace {

using namespace std::chrono_literals;
using test::Trace;

bool is_readable(int descriptor) { return support::becomes_readable(descriptor, 0ms); }

class Embedding : public testing::Test {
 protected:
  EventLoop loop;
  Scheduler scheduler = loop.scheduler();
  int descriptor = loop.wakeup_fd();
  Trace trace;

  [[nodiscard]] auto note(std::string line) {
    return [this, line = std::move(line)] { trace.push_back(line); };
  }
};

TEST_F(Embedding, wakeup_fd_when_asked_again_then_the_same) {
  EXPECT_GE(descriptor, 0);
  EXPECT_EQ(loop.wakeup_fd(), descriptor);
}

TEST_F(Embedding, descriptor_when_nothing_is_to_do_then_not_readable) {
  EXPECT_FALSE(is_readable(descriptor));
  EXPECT_EQ(loop.poll(), 0U);
  EXPECT_FALSE(is_readable(descriptor));
}

TEST_F(Embedding, descriptor_when_another_thread_posts_then_readable_until_polled) {
  test::on_plain_thread([this] { scheduler.post(note("task")); });
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(loop.poll(), 1U);
  EXPECT_EQ(trace, (Trace{"task"}));
  EXPECT_FALSE(is_readable(descriptor));
}

TEST_F(Embedding, descriptor_when_the_driving_thread_posts_between_polls_then_readable) {
  scheduler.post([] {});
  EXPECT_TRUE(is_readable(descriptor));
}

TEST(EmbeddingLate, descriptor_when_made_while_a_task_waits_then_readable_at_once) {
  EventLoop loop;
  loop.scheduler().post([] {});
  EXPECT_TRUE(is_readable(loop.wakeup_fd()));
}

TEST_F(Embedding, descriptor_when_poll_leaves_tasks_behind_then_still_readable) {
  scheduler.post([this] { scheduler.post(note("posted by a task")); });
  EXPECT_EQ(loop.poll(), 1U);
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(loop.poll(), 1U);
  EXPECT_FALSE(is_readable(descriptor));
}

// Rule: CLU-4
TEST_F(Embedding, WPT_MT_15_descriptor_when_many_posts_arrive_then_one_wake_up) {
  test::on_plain_thread([this] {
    for (int i = 0; i < 100; ++i) scheduler.post([] {});
  });
  EXPECT_EQ(loop.stats().wakeups_sent, 1U);
  EXPECT_EQ(loop.poll(), 100U);
  scheduler.post([] {});
  EXPECT_EQ(loop.stats().wakeups_sent, 2U);
}

// Rule: YLD-4
TEST_F(Embedding, descriptor_when_another_thread_settles_a_promise_then_readable_for_its_reaction) {
  auto [promise, resolver] = Promise<void>::with_resolver();
  scheduler.post([this, promise] { static_cast<void>(promise.then(note("reaction"))); });
  loop.poll();
  EXPECT_FALSE(is_readable(descriptor));
  test::on_plain_thread([&resolver] { resolver.resolve(); });
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(loop.poll(), 0U);
  EXPECT_EQ(trace, (Trace{"reaction"}));
}

// Rule: ABT-4
TEST_F(Embedding, descriptor_when_another_thread_aborts_then_readable_to_clear_the_tasks_away) {
  AbortController controller;
  const auto probe = std::make_shared<int>();
  static_cast<void>(scheduler.post_task([probe] {}, {.signal = controller.signal(), .delay = 1h}));
  loop.poll();
  test::on_plain_thread([&] { controller.abort(); });
  EXPECT_TRUE(is_readable(descriptor));
  EXPECT_EQ(probe.use_count(), 2);  // not destroyed by the aborting thread
  loop.poll();
  EXPECT_EQ(probe.use_count(), 1);
}

// Rule: DLY-1
TEST_F(Embedding, descriptor_when_a_delay_expires_then_readable) {
  const auto start = std::chrono::steady_clock::now();
  scheduler.post(note("delayed"), {.delay = 10ms});
  while (loop.poll() == 0) ASSERT_TRUE(support::becomes_readable(descriptor, test::patience));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 10ms);
  EXPECT_EQ(trace, (Trace{"delayed"}));
  EXPECT_FALSE(is_readable(descriptor));
}

// Rule: DLY-1
TEST_F(Embedding, descriptor_when_an_earlier_delay_is_posted_then_readable_for_that) {
  scheduler.post([] {}, {.delay = 1h});
  loop.poll();
  test::on_plain_thread([this] { scheduler.post(note("earlier"), {.delay = 1ms}); });
  while (trace.empty()) {
    ASSERT_TRUE(support::becomes_readable(descriptor, test::patience));
    loop.poll();
  }
  EXPECT_EQ(trace, (Trace{"earlier"}));
  EXPECT_FALSE(is_readable(descriptor));
}

// Rule: DLY-1, ABT-4: an aborted delay leaves no wake-up behind.
TEST_F(Embedding, descriptor_when_the_only_delay_is_aborted_then_not_readable_at_its_time) {
  AbortController controller;
  scheduler.post([] {}, {.signal = controller.signal(), .delay = 5ms});
  loop.poll();
  controller.abort();
  loop.poll();
  EXPECT_FALSE(support::becomes_readable(descriptor, 20ms));
}

// Rule: LIF-1
TEST_F(Embedding, descriptor_when_the_loop_is_closed_then_not_readable) {
  scheduler.post([] {});
  loop.close(CloseMode::drain());
  loop.poll();
  EXPECT_FALSE(is_readable(descriptor));
}

TEST_F(Embedding, run_when_a_descriptor_exists_then_sleeps_and_wakes_by_it) {
  std::thread poster([this] {
    scheduler.post([this] {
      trace.emplace_back("posted");
      scheduler.post([this] { loop.stop(); }, {.delay = 2ms});
    });
  });
  loop.run();
  poster.join();
  EXPECT_EQ(trace, (Trace{"posted"}));
}

/// A pipe whose ends close.
struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends.data()), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends) ::close(end);
  }
  void write() const { EXPECT_EQ(::write(ends[1], "x", 1), 1); }
  void read() const {
    char byte = 0;
    EXPECT_EQ(::read(ends[0], &byte, 1), 1);
  }
  std::array<int, 2> ends{-1, -1};
};

// A whole program: a foreign loop with a descriptor of its own, posts from another thread, timers,
// reactions.
TEST_F(Embedding, foreign_loop_when_it_polls_both_descriptors_then_everything_is_served) {
  const Pipe pipe;
  std::thread poster([&] {
    for (int i = 0; i < 50; ++i) {
      scheduler.post([this] { scheduler.post(note("timer"), {.delay = 1ms}); });
      pipe.write();
    }
  });
  int foreign_events = 0;
  while (trace.size() < 50 || foreign_events < 50) {
    std::array<pollfd, 2> entries{pollfd{.fd = descriptor, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = pipe.ends[0], .events = POLLIN, .revents = 0}};
    const std::chrono::milliseconds longest = test::patience;
    ASSERT_GT(::poll(entries.data(), entries.size(), static_cast<int>(longest.count())), 0);
    if (entries[1].revents != 0) {
      pipe.read();
      ++foreign_events;
    }
    if (entries[0].revents != 0) loop.poll();
  }
  poster.join();
  EXPECT_EQ(loop.pending(), 0U);
}

}  // namespace
}  // namespace heist
