// What those who listen to a client's events are told.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api_fixture.hpp"

namespace heistd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Events : public ApiFixture {
 protected:
  struct Event {
    std::string id;
    std::string type;
    Json data;
  };

  std::shared_ptr<EventStream> listen(std::optional<std::string_view> last_id = {}) {
    RequestHead head{"GET", "/events", authorization, {}, false};
    head.last_event_id = last_id;
    return std::get<Listening>(begin(api, head)).stream;
  }
  /// As the network does after a while.
  void beat() { anonymous.events.beat(now += ClientEvents::interval); }

  std::vector<Event> take(EventStream& stream) {
    stream.wake();
    std::string text;
    while (stream.has_more()) text += stream.take();
    std::vector<Event> events;
    for (std::size_t end = 0; (end = text.find("\n\n")) != std::string::npos;) {
      events.push_back(parse(text.substr(0, end + 1)));
      text.erase(0, end + 2);
    }
    EXPECT_EQ(text, "");
    return events;
  }
  static Event parse(const std::string& text) {
    const auto field = [&text](const std::string& name) {
      const auto start = text.find(name + ": ") + name.size() + 2;
      return text.substr(start, text.find('\n', start) - start);
    };
    return {field("id"), field("event"), Json::parse(field("data"))};
  }
  /// What a listener hears of jobs: "state", or "state progress".
  std::vector<std::string> states(EventStream& stream) {
    std::vector<std::string> found;
    for (const auto& event : take(stream)) {
      if (event.type != "job") continue;
      const auto progress =
          event.data.contains("progress") ? " " + event.data["progress"].dump() : "";
      found.push_back(std::string(event.data["state"]) + progress);
    }
    return found;
  }
  std::vector<std::string> types(EventStream& stream) {
    std::vector<std::string> found;
    for (const auto& event : take(stream)) found.push_back(event.type);
    return found;
  }

  ClientEvents::Clock::time_point now = ClientEvents::Clock::now();
};

TEST_F(Events, listen_then_levels_come_first_and_each_event_has_an_id_of_its_own) {
  post("/jobs/digest?priority=background");
  const auto stream = listen();
  post("/jobs/digest");
  const auto events = take(*stream);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].type, "levels");
  EXPECT_EQ(events[0].data["levels"][2]["queued"], 1);
  EXPECT_EQ(events[1].type, "job");
  EXPECT_EQ(events[1].data["kind"], "digest");
  EXPECT_NE(events[0].id, events[1].id);
}

TEST_F(Events, job_then_its_states_are_told_from_its_acceptance_to_its_end) {
  const auto stream = listen();
  const auto job = post("/jobs/digest", std::string(3 * block_bytes, 'x'));
  EXPECT_THAT(states(*stream), ElementsAre("queued"));
  run_one();
  beat();
  EXPECT_THAT(states(*stream), ElementsAre("running"));
  run_all();
  EXPECT_THAT(states(*stream), ElementsAre("done"));
  call("DELETE", job);
  EXPECT_THAT(types(*stream), ElementsAre("forgotten"));
}

TEST_F(Events, job_when_it_waits_gets_another_priority_and_is_aborted_then_all_is_told) {
  const auto stream = listen();
  const auto job = post("/jobs/digest?delay=1000");
  call("PUT", job + "?priority=background");
  call("DELETE", job);
  const auto events = take(*stream);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1].data["state"], "delayed");
  EXPECT_EQ(events[2].data["priority"], "background");
  EXPECT_EQ(events[3].data["state"], "aborted");
  EXPECT_EQ(events[3].data["error"]["code"], "aborted");
}

TEST_F(Events, progress_when_reported_often_then_told_once_in_an_interval) {
  const auto stream = listen();
  post("/jobs/digest", std::string(2 * block_bytes, 'x'));
  run_one();
  auto& progress = *anonymous.jobs.unfinished().front()->progress;
  for (const double part : {0.1, 0.2, 0.3}) progress.report(part);
  beat();
  EXPECT_THAT(states(*stream), ElementsAre("queued", "running 0.3"));
  progress.report(0.4);
  beat();
  EXPECT_THAT(states(*stream), ElementsAre("running 0.4"));
}

TEST_F(Events, signal_when_put_or_deleted_then_told_with_its_priority) {
  const auto stream = listen();
  call("PUT", "/signals/night?priority=background");
  call("DELETE", "/signals/night");
  const auto events = take(*stream);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].type, "signal");
  EXPECT_EQ(events[1].data["priority"], "background");
  EXPECT_EQ(events[2].type, "signal_deleted");
  EXPECT_EQ(events[2].data["signal"], "night");
}

TEST_F(Events, pause_then_told_with_what_is_paused) {
  const auto stream = listen();
  call("POST", "/kinds/digest/pause");
  call("POST", "/signals/night/pause");
  call("POST", "/signals/night/resume");
  const auto events = take(*stream);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1].type, "kind");
  EXPECT_EQ(events[1].data["kind"], "digest");
  EXPECT_EQ(events[1].data["paused"], true);
  EXPECT_EQ(events[2].data["paused"], true);
  EXPECT_EQ(events[3].data["paused"], false);
}

TEST_F(Events, levels_when_something_has_changed_then_told_once_a_second_with_its_delays) {
  const auto stream = listen();
  post("/jobs/digest");
  run_all();
  now += ClientEvents::levels_interval;
  beat();
  EXPECT_EQ(take(*stream).back().data["levels"][1]["queue_delay_us"]["count"], 1);
  now += ClientEvents::levels_interval;
  beat();
  EXPECT_EQ(take(*stream).back().data["levels"][1]["queue_delay_us"]["count"], 0);
  now += ClientEvents::levels_interval;
  beat();
  EXPECT_THAT(types(*stream), IsEmpty());
}

TEST_F(Events, beat_when_there_is_something_new_then_the_listener_is_woken) {
  const auto stream = listen();
  int woken = 0;
  stream->on_more = [&woken] { ++woken; };
  take(*stream);
  beat();
  EXPECT_EQ(woken, 1) << "by take()";
  post("/jobs/digest");
  EXPECT_FALSE(stream->has_more());
  beat();
  EXPECT_TRUE(stream->has_more());
  EXPECT_EQ(woken, 2);
}

// Rule: SEC-1
TEST_F(Events, job_when_it_is_another_clients_then_nothing_is_told) {
  const auto stream = listen();
  take(*stream);
  authorization = "Bearer a";
  post("/jobs/digest?signal=night");
  run_all();
  beat();
  EXPECT_THAT(types(*stream), IsEmpty());
}

TEST_F(Events, reader_when_it_is_too_slow_then_told_that_it_missed_some_and_how_things_are) {
  const auto slow = listen();
  const auto quick = listen();
  const auto group = anonymous.signals.find_or_make("night", heist::TaskPriority::background);
  for (std::size_t i = 0; i < EventLog::most_events / 2; ++i) {
    anonymous.events.signal_changed("night", *group);
  }
  beat();
  take(*quick);
  for (std::size_t i = 0; i < EventLog::most_events; ++i) {
    anonymous.events.signal_changed("night", *group);
  }
  EXPECT_THAT(types(*slow), ElementsAre("missed", "levels"));
  EXPECT_EQ(types(*quick).back(), "levels");
  beat();
  post("/jobs/digest");
  beat();
  EXPECT_THAT(states(*slow), ElementsAre("queued"));
}

TEST_F(Events, events_when_more_come_in_an_interval_than_are_kept_then_no_more_are_made) {
  const auto stream = listen();
  const auto group = anonymous.signals.find_or_make("night", heist::TaskPriority::background);
  for (std::size_t i = 0; i < 2 * EventLog::most_events; ++i) {
    anonymous.events.signal_changed("night", *group);
  }
  beat();
  EXPECT_THAT(types(*stream), ElementsAre("missed", "levels"));
}

TEST_F(Events, listen_when_it_names_the_last_event_then_it_goes_on_behind_that) {
  auto stream = listen();
  const auto last = take(*stream).back().id;
  stream.reset();
  post("/jobs/digest");
  EXPECT_THAT(types(*listen(last)), ElementsAre("job", "levels"));
  EXPECT_THAT(types(*listen("1-1")), ElementsAre("missed", "levels"));
  EXPECT_THAT(types(*listen(last + "9")), ElementsAre("missed", "levels"));
}

TEST_F(Events, listener_when_it_has_gone_then_nothing_is_kept_after_a_while) {
  auto stream = listen();
  const auto last = take(*stream).back().id;
  beat();
  stream.reset();
  beat();
  EXPECT_TRUE(anonymous.events.is_open());
  EXPECT_TRUE(anonymous.events.changed->is_heard());
  now += ClientEvents::patience;
  beat();
  EXPECT_FALSE(anonymous.events.is_open());
  EXPECT_FALSE(anonymous.events.changed->is_heard());
  EXPECT_EQ(types(*listen(last)).front(), "missed");
}

TEST_F(Events, stream_when_ended_then_what_is_left_comes_and_then_the_reason) {
  const auto stream = listen();
  post("/jobs/digest");
  anonymous.events.end_streams("the test");
  const auto events = take(*stream);
  ASSERT_EQ(events.size(), 3U);
  EXPECT_EQ(events[1].type, "job");
  EXPECT_EQ(events[2].type, "end");
  EXPECT_EQ(events[2].data["reason"], "the test");
  EXPECT_TRUE(stream->has_ended());
  EXPECT_FALSE(stream->has_more());
}

TEST(EventLog, add_when_events_are_large_then_the_oldest_make_room) {
  EventLog log("x");
  const std::string large(EventLog::most_bytes / 4, 'l');
  for (int i = 0; i < 8; ++i) log.add("job", large);
  EXPECT_EQ(log.next(), 9U);
  EXPECT_EQ(log.first(), 6U);
}

TEST(ChangedJobs, note_when_agents_do_so_all_the_time_then_no_job_is_left_out) {
  constexpr std::size_t agents = 4;
  constexpr std::size_t jobs_of_each = ChangedJobs::most / agents;
  static const auto kinds = builtin_kinds();
  ChangedJobs changed;
  changed.listen(ChangedJobs::make_room());
  std::vector<std::shared_ptr<const Job>> jobs;
  for (std::size_t i = 0; i < agents * jobs_of_each; ++i) {
    jobs.push_back(std::make_shared<Job>(std::to_string(i), *kinds.find("digest"), 0));
  }
  std::vector<std::thread> threads;
  for (std::size_t agent = 0; agent < agents; ++agent) {
    threads.emplace_back([&, agent] {
      for (std::size_t i = 0; i < jobs_of_each; ++i) {
        ChangedJobs::Round noted_in = 0;
        changed.note(jobs[agent * jobs_of_each + i], noted_in);
        changed.note(jobs[agent * jobs_of_each + i], noted_in);
      }
    });
  }
  std::set<std::string> seen;
  auto room = ChangedJobs::make_room();
  const auto look = [&] {
    EXPECT_TRUE(changed.exchange(room));
    for (const auto& job : room) seen.insert(job.lock()->id);
    room.clear();
  };
  while (seen.size() < jobs.size() / 2) look();
  for (auto& thread : threads) thread.join();
  look();
  EXPECT_EQ(seen.size(), jobs.size());
}

TEST(ChangedJobs, note_when_there_are_too_many_then_said_so_once) {
  static const auto kinds = builtin_kinds();
  const auto job = std::make_shared<const Job>("1", *kinds.find("digest"), 0);
  ChangedJobs changed;
  changed.listen(ChangedJobs::make_room());
  for (std::size_t i = 0; i <= ChangedJobs::most; ++i) {
    ChangedJobs::Round noted_in = 0;
    changed.note(job, noted_in);
  }
  auto room = ChangedJobs::make_room();
  EXPECT_FALSE(changed.exchange(room));
  EXPECT_EQ(room.size(), ChangedJobs::most);
  EXPECT_TRUE(changed.exchange(room));
}

class EventLimits : public Events {
 protected:
  static Limits one_wait() {
    Limits limits;
    limits.max_waiting = 1;
    return limits;
  }
  ClientTable few_waits{{}, heist::TaskPriority::background, one_wait()};
  Api small{kinds, few_waits, service, observer, limits};
};

TEST_F(EventLimits, listen_when_too_many_requests_wait_then_refused_until_one_ends) {
  const RequestHead head{"GET", "/events", {}, {}, false};
  auto first = begin(small, head);
  ASSERT_TRUE(std::holds_alternative<Listening>(first));
  EXPECT_EQ(answer(std::get<Reply>(begin(small, head))).error(), "too_many_waits");
  first = Reply{};
  EXPECT_TRUE(std::holds_alternative<Listening>(begin(small, head)));
}

}  // namespace
}  // namespace heistd
