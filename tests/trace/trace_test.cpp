// What a Trace records of a program that is known. Rules: TRC-1 to TRC-6.
#include <gmock/gmock.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <heist/heist.hpp>
#include <limits>
#include <new>
#include <stdexcept>
#include <system_error>

#include "support/threads.hpp"
#include "trace/picture.hpp"

namespace heist {
namespace {

using test::Format;
using test::Mark;
using test::Picture;
using test::picture_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class TracedLoop : public testing::TestWithParam<Format> {
 protected:
  Picture stopped() {
    trace.stop();
    return picture_of(trace, GetParam());
  }
  static std::vector<std::string> shapes_and_names(const std::vector<Mark>& marks) {
    std::vector<std::string> all;
    for (const Mark& mark : marks)
      all.push_back(mark.shape + (mark.name.empty() ? "" : " " + mark.name));
    return all;
  }

  EventLoop loop{{.clock = LoopClock::virtual_time}};
  Scheduler scheduler = loop.scheduler();
  Trace trace;
};

INSTANTIATE_TEST_SUITE_P(Formats, TracedLoop, testing::Values(Format::perfetto, Format::json),
                         [](const auto& format) {
                           return format.param == Format::json ? "json" : "perfetto";
                         });

// Rule: TRC-2.
TEST_P(TracedLoop, task_when_posted_then_an_arrow_goes_from_its_post_to_its_slice) {
  scheduler.post([] {});
  loop.run_until_idle();
  const Picture picture = stopped();
  EXPECT_EQ(picture.process, program_invocation_short_name);
  EXPECT_THAT(picture.tracks, SizeIs(1));
  ASSERT_THAT(shapes_and_names(picture.marks),
              ElementsAre("instant post", "begin user-visible task", "end"));
  const Mark& post = picture.marks[0];
  const Mark& start = picture.marks[1];
  EXPECT_THAT(post.begins, SizeIs(1));
  EXPECT_EQ(start.ends, post.begins);
  EXPECT_EQ(start.arguments.at("task"), post.arguments.at("task"));
  EXPECT_LE(post.time, start.time);
  EXPECT_LE(start.time, picture.marks[2].time);
}

// Rule: TRC-2. Both tasks have the same memory, one after the other.
TEST_P(TracedLoop, tasks_when_their_addresses_are_the_same_then_their_arrows_are_not) {
  for (int i = 0; i < 2; ++i) {
    scheduler.post([] {});
    loop.run_until_idle();
  }
  const Picture picture = stopped();
  const auto posts = picture.all("post");
  const auto starts = picture.all("user-visible task");
  ASSERT_THAT(posts, SizeIs(2));
  ASSERT_THAT(starts, SizeIs(2));
  EXPECT_NE(posts[0].begins, posts[1].begins);
  EXPECT_EQ(starts[0].ends, posts[0].begins);
  EXPECT_EQ(starts[1].ends, posts[1].begins);
}

// Rule: TRC-2.
TEST_P(TracedLoop, coroutine_when_it_goes_on_then_an_arrow_goes_from_its_slice_to_the_next) {
  static_cast<void>(scheduler.post_task([]() -> Promise<void> { co_await heist::yield(); },
                                        {.priority = TaskPriority::background}));
  loop.run_until_idle();
  const Picture picture = stopped();
  ASSERT_THAT(shapes_and_names(picture.marks),
              ElementsAre("instant post", "begin background task", "instant post", "end",
                          "begin background continuation", "end"));
  EXPECT_EQ(picture.marks[4].ends, picture.marks[2].begins);
}

// Rule: TRC-2.
TEST_P(TracedLoop, task_when_it_has_a_label_then_its_marks_say_so) {
  scheduler.post([] {}, {.label = "resize \"image\""});
  loop.run_until_idle();
  const Picture picture = stopped();
  ASSERT_THAT(picture.marks, SizeIs(3));
  EXPECT_THAT(picture.marks[0].name, testing::StartsWith("post of resize"));
  EXPECT_THAT(picture.marks[1].name, testing::StartsWith("resize"));
}

// Rule: TRC-3.
TEST_P(TracedLoop, abort_when_tasks_wait_then_it_says_which_signal_ended_which_task) {
  TaskController controller;
  static_cast<void>(scheduler.post_task([] {}, {.signal = controller.signal()}));
  controller.abort();
  loop.run_until_idle();
  const Picture picture = stopped();
  ASSERT_THAT(shapes_and_names(picture.marks),
              ElementsAre("instant post", "instant abort of a signal", "instant abort of a task"));
  EXPECT_EQ(picture.marks[2].ends, picture.marks[0].begins);
  EXPECT_EQ(picture.marks[2].arguments.at("signal"), picture.marks[1].arguments.at("signal"));
}

// Rule: TRC-3.
TEST_P(TracedLoop, abort_when_the_task_waits_for_its_time_then_it_is_named_by_its_label) {
  AbortController controller;
  scheduler.post([] {},
                 {.signal = controller.signal(), .delay = std::chrono::hours(1), .label = "late"});
  controller.abort();
  EXPECT_THAT(stopped().all("abort of late"), SizeIs(1));
}

// Rule: TRC-3.
TEST_P(TracedLoop, abort_when_the_task_runs_then_the_mark_says_so) {
  AbortController controller;
  static_cast<void>(
      scheduler.post_task([&] { controller.abort(); }, {.signal = controller.signal()}));
  loop.run_until_idle();
  EXPECT_THAT(shapes_and_names(stopped().marks),
              ElementsAre("instant post", "begin user-visible task", "instant abort of a signal",
                          "instant abort of a task that has started", "end"));
}

// Rule: TRC-4.
TEST_P(TracedLoop, priority_when_it_changes_then_an_arrow_goes_to_the_first_task_that_follows_it) {
  TaskController controller(TaskPriority::background);
  for (int i = 0; i < 2; ++i) scheduler.post([] {}, {.signal = controller.signal()});
  controller.set_priority(TaskPriority::user_blocking);
  loop.run_until_idle();
  const Picture picture = stopped();
  const auto changes = picture.all("background -> user-blocking");
  const auto starts = picture.all("user-blocking task");
  ASSERT_THAT(changes, SizeIs(1));
  ASSERT_THAT(starts, SizeIs(2));
  EXPECT_THAT(starts[0].ends, testing::Contains(changes[0].begins.at(0)));
  EXPECT_THAT(starts[1].ends, SizeIs(1));
  EXPECT_EQ(starts[0].arguments.at("signal"), changes[0].arguments.at("signal"));
}

// Rule: TRC-1.
TEST_P(TracedLoop, trace_when_stopped_then_it_records_no_more) {
  trace.stop();
  scheduler.post([] {});
  loop.run_until_idle();
  EXPECT_THAT(picture_of(trace, GetParam()).marks, IsEmpty());
}

// Rules: TRC-3, TRC-4. The second signal has the memory of the first one.
TEST_P(TracedLoop, signals_when_their_addresses_are_the_same_then_they_are_different_signals) {
  {
    TaskController first(TaskPriority::background);
    first.set_priority(TaskPriority::user_blocking);
  }
  TaskController second(TaskPriority::background);
  scheduler.post([] {}, {.signal = second.signal()});
  loop.run_until_idle();
  const Picture picture = stopped();
  const auto changes = picture.all("background -> user-blocking");
  const auto posts = picture.all("post");
  const auto starts = picture.all("background task");
  ASSERT_THAT(changes, SizeIs(1));
  ASSERT_THAT(posts, SizeIs(1));
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(starts[0].ends, posts[0].begins) << "no arrow comes from the change of another signal";
  EXPECT_NE(starts[0].arguments.at("signal"), changes[0].arguments.at("signal"));
}

/// Agents of a cluster. What they record of their sleeps comes in between.
class TracedCluster : public testing::Test {
 protected:
  void run(const std::function<void(const Scheduler&)>& body) {
    const Scheduler scheduler = cluster.scheduler();
    scheduler.post([&] { body(scheduler); });
    cluster.close(CloseMode::drain());
    trace.stop();
    picture = picture_of(trace, Format::perfetto);
  }

  Trace trace;
  AgentCluster cluster{{.agents = 2, .reserves = 0}};
  Picture picture;
};

// Rule: TRC-6. The other agent has to steal what the first one waits for.
TEST_F(TracedCluster, task_when_stolen_then_the_thief_says_so_and_runs_it) {
  run([](const Scheduler& scheduler) {
    support::Gate ran;
    scheduler.post([&] { ran.open(); }, {.priority = TaskPriority::background});
    ran.wait();
  });
  const auto steals = picture.all("steal");
  const auto starts = picture.all("background task");
  ASSERT_THAT(steals, SizeIs(1));
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_EQ(steals[0].arguments.at("tasks"), 1U);
  EXPECT_EQ(starts[0].arguments.at("task"), 2U);
  EXPECT_THAT(starts[0].ends, ElementsAre(2));
}

// Rule: TRC-2. The end of the delay makes the task runnable.
TEST_F(TracedCluster, task_when_it_has_a_signal_and_a_delay_then_an_arrow_goes_to_its_slice) {
  const AbortController controller;
  run([&](const Scheduler& scheduler) {
    support::Gate ran;
    scheduler.post([&] { ran.open(); }, {.signal = controller.signal(),
                                         .priority = TaskPriority::background,
                                         .delay = std::chrono::milliseconds(1)});
    ran.wait();
  });
  const auto starts = picture.all("background task");
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_THAT(starts[0].ends, SizeIs(1));
}

// Rule: TRC-2.
TEST_F(TracedCluster, coroutine_when_what_it_awaits_has_settled_then_its_slice_has_an_arrow) {
  run([](const Scheduler& scheduler) {
    static_cast<void>([](Scheduler of) -> Promise<void> {
      auto awaited = of.post_task([] {}, {.priority = TaskPriority::background});
      co_await awaited;
    }(scheduler));
  });
  const auto starts = picture.all("user-visible continuation");
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_THAT(starts[0].ends, SizeIs(1));
}

// Rule: TRC-6.
TEST_F(TracedCluster, agent_when_it_has_nothing_to_do_then_its_sleep_is_a_slice) {
  support::wait_until([&] { return cluster.stats().sleeps >= 2; });
  run([](const Scheduler&) {});
  const auto sleeps = picture.all("sleep");
  EXPECT_THAT(sleeps, testing::Not(IsEmpty()));
}

// Rule: TRC-1. The task waits when the trace starts, and runs when it stops.
TEST(TraceEdges, task_when_the_trace_begins_behind_its_post_then_its_slice_is_there) {
  EventLoop loop{{.clock = LoopClock::virtual_time}};
  loop.scheduler().post([] {});
  Trace trace;
  loop.run_until_idle();
  trace.stop();
  const Picture picture = picture_of(trace, Format::json);
  EXPECT_THAT(picture.marks, SizeIs(2));
  EXPECT_THAT(picture.marks.at(0).ends, IsEmpty());
}

// Rule: TRC-1.
TEST(TraceEdges, trace_while_it_runs_then_it_can_be_written) {
  EventLoop loop{{.clock = LoopClock::virtual_time}};
  const Trace trace;
  loop.scheduler().post([] {});
  EXPECT_THAT(picture_of(trace, Format::json).marks, SizeIs(1));
  loop.run_until_idle();
  EXPECT_THAT(picture_of(trace, Format::json).marks, SizeIs(3));
}

// Rule: TRC-1.
TEST(TraceEdges, trace_when_another_runs_then_it_is_refused) {
  {
    const Trace trace;
    EXPECT_THROW(Trace(), NotAllowedError);
  }
  EXPECT_NO_THROW(Trace());
}

// Rule: TRC-5.
TEST(TraceLosses, events_when_there_are_more_than_places_then_the_oldest_are_counted_as_lost) {
  EventLoop loop{{.clock = LoopClock::virtual_time}};
  Trace trace({.events_per_thread = 4});
  for (int i = 0; i < 2; ++i) loop.scheduler().post([] {});
  loop.run_until_idle();
  trace.stop();
  EXPECT_EQ(trace.counts().events, 4U);
  EXPECT_EQ(trace.counts().overwritten, 2U);
  const Picture picture = picture_of(trace, Format::perfetto);
  ASSERT_THAT(picture.marks, SizeIs(5));
  EXPECT_EQ(picture.marks[0].name, "2 events were lost");
  EXPECT_EQ(picture.marks[1].name, "user-visible task");
}

// Rule: TRC-5.
TEST(TraceLosses, events_when_no_ring_is_left_then_they_are_counted_as_lost) {
  EventLoop loop{{.clock = LoopClock::virtual_time}};
  Trace trace({.events_per_thread = 16, .threads = 1});
  loop.scheduler().post([] {});
  support::on_thread([&] { loop.scheduler().post([] {}); });
  trace.stop();
  EXPECT_EQ(trace.counts().events, 1U);
  EXPECT_EQ(trace.counts().without_thread, 1U);
  loop.run_until_idle();
}

// Rule: TRC-5. A thread that has ended leaves its part to the next trace.
TEST(TraceLosses, threads_when_they_have_ended_then_the_next_trace_has_room_for_others) {
  EventLoop loop{{.clock = LoopClock::virtual_time}};
  for (int i = 0; i < 3; ++i) {
    Trace trace({.events_per_thread = 17, .threads = 1});
    support::on_thread([&] { loop.scheduler().post([] {}); });
    trace.stop();
    EXPECT_EQ(trace.counts().events, 1U);
  }
  loop.run_until_idle();
}

// Rules: TRC-2, TRC-5. The last task has the memory of the first one, which another thread posted,
// and only that one's post is left.
TEST(TraceLosses, task_when_the_events_before_it_are_lost_then_no_arrow_comes_from_another_post) {
  EventLoop loop{{.clock = LoopClock::virtual_time}};
  TaskController fills_the_ring;
  Trace trace({.events_per_thread = 4, .threads = 2});
  support::on_thread([&] { loop.scheduler().post([] {}); });
  loop.run_until_idle();
  loop.scheduler().post([] {});
  loop.run_until_idle();
  fills_the_ring.set_priority(TaskPriority::background);
  fills_the_ring.set_priority(TaskPriority::user_visible);
  trace.stop();
  const Picture picture = picture_of(trace, Format::json);
  const auto starts = picture.all("user-visible task");
  ASSERT_THAT(picture.all("post"), SizeIs(1));
  ASSERT_THAT(starts, SizeIs(1));
  EXPECT_THAT(starts[0].ends, IsEmpty());
}

TEST(TraceOptionsChecked, events_when_their_number_is_the_largest_then_there_is_no_memory) {
  constexpr auto largest = std::numeric_limits<std::size_t>::max();
  EXPECT_THROW(Trace({.events_per_thread = largest}), std::bad_alloc);
  EXPECT_THROW(Trace({.events_per_thread = largest - 1}), std::bad_alloc);
}

TEST(TraceOptionsChecked, option_when_zero_then_it_is_named) {
  const auto message_of = [](const TraceOptions& options) -> std::string {
    try {
      const Trace trace(options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message_of({.events_per_thread = 0}), HasSubstr("events_per_thread"));
  EXPECT_THAT(message_of({.threads = 0}), HasSubstr("threads"));
}

// Readers of JSON refuse a file with text of another encoding.
TEST(TraceFiles, label_when_it_is_no_utf_8_then_the_file_can_be_read) {
  EventLoop loop{{.clock = LoopClock::virtual_time}};
  Trace trace;
  loop.scheduler().post([] {}, {.label = "caf\xE9 \xC3\xA9t\xC3"});
  loop.run_until_idle();
  const Picture picture = picture_of(trace, Format::json);
  EXPECT_THAT(picture.all("caf\xEF\xBF\xBD \xC3\xA9t\xEF\xBF\xBD"), SizeIs(1));
}

TEST(TraceFiles, file_when_it_cannot_be_written_then_the_error_names_it_and_the_reason) {
  Trace trace;
  const std::string path = testing::TempDir() + "no_such_folder/trace";
  for (const auto write : {&Trace::write_perfetto, &Trace::write_json}) {
    try {
      (trace.*write)(path);
      ADD_FAILURE() << "no error";
    } catch (const std::system_error& error) {
      EXPECT_THAT(error.what(), HasSubstr(path));
      EXPECT_EQ(error.code(), std::errc::no_such_file_or_directory);
    }
  }
}

TEST(TraceFiles, file_when_the_disk_is_full_then_the_error_says_so) {
  Trace trace;
  EXPECT_THROW(trace.write_json("/dev/full"), std::system_error);
}

}  // namespace
}  // namespace heist
