// How clients of one priority take turns, and how few of a client's jobs run at a time.
#include <heistd/job_restore.hpp>
#include <heistd/turns.hpp>
#include <vector>

#include "kept_jobs_fixture.hpp"

namespace heistd {
namespace {

constexpr auto window = JobLine::most_posted;

/// The same with a journal and without.
class ClientTurns : public KeptJobs, public testing::WithParamInterface<bool> {
 protected:
  using KeptJobs::ask;

  JobService& jobs() { return GetParam() ? kept : service; }
  void grant(std::string_view of_alice, std::string_view of_bob) {
    const auto spec = [](std::string_view who, std::string_view limits) {
      return std::get<ClientSpec>(parse_client_spec(std::string(who) + ' ' + std::string(limits)));
    };
    clients.renew({spec("alice:a:user-visible", of_alice), spec("bob:b:background", of_bob)});
    jobs().apply_limits(clients);
  }
  std::vector<JobId> post_as(std::string_view who, std::size_t count, std::string_view query = {},
                             std::string_view body = "bytes") {
    const std::string bearer = "Bearer " + std::string(who);
    authorization = bearer;
    const auto target = "/jobs/digest?" + std::string(query);
    std::vector<JobId> ids;
    for (std::size_t i = 0; i < count; ++i) {
      const auto accepted = GetParam() ? ask("POST", target, body) : call("POST", target, body);
      EXPECT_EQ(accepted.status, 202U) << accepted.body;
      ids.push_back(accepted.json()["id"]);
    }
    authorization = std::nullopt;
    return ids;
  }
  Answer as_alice(std::string_view method, std::string_view target) {
    authorization = "Bearer a";
    auto answer = GetParam() ? ask(method, target) : call(method, target);
    authorization = std::nullopt;
    return answer;
  }
  Client& alice() { return *clients.find("alice"); }
  Client& bob() { return *clients.find("bob"); }
  static std::size_t done(Client& client) {
    std::size_t done = 0;
    for (const auto& stats : client.stats) done += stats.done;
    return done;
  }
  std::size_t running(Client& client) {
    std::size_t running = 0;
    for (const auto& depth : client.depths()) running += depth.running;
    return running;
  }
  /// Runs one task if there is one.
  void step() { loop.poll({.tasks = 1}), run_network(); }
  void run_until_done(Client& client, std::size_t count) {
    for (int i = 0; i < 10'000 && done(client) < count; ++i) step();
    EXPECT_EQ(done(client), count) << running(client) << " run, " << client.waiting.size()
                                   << " wait of " << client.budget->jobs();
  }
  void run_until_running(std::size_t count) {
    for (int i = 0; i < 100 && running(alice()) < count; ++i) step();
    EXPECT_EQ(running(alice()), count);
  }
  void expect_nothing_left() {
    run_kept();
    for (auto* const client : {&alice(), &bob()}) {
      EXPECT_EQ(client->budget->jobs(), 0U);
      EXPECT_EQ(client->budget->bytes(), 0U);
      EXPECT_EQ(client->run_places.taken(), 0U);
    }
  }

  const std::string three_blocks = std::string(3 * block_bytes, 'x');
};

INSTANTIATE_TEST_SUITE_P(Journal, ClientTurns, testing::Bool(), [](const auto& with_journal) {
  return with_journal.param ? "with_one" : "without_one";
});

TEST_P(ClientTurns, jobs_when_weights_are_three_and_one_then_three_start_for_each_one) {
  grant("weight=3", "");
  post_as("a", 6 * window, "priority=background");
  post_as("b", 4 * window);
  run_until_done(alice(), window);  // those that were posted before bob came
  const auto before = done(bob());
  run_until_done(alice(), 4 * window);
  EXPECT_NEAR(static_cast<double>(done(bob()) - before), window, 12);
  run_until_done(bob(), 4 * window);
  EXPECT_EQ(done(alice()), 6 * window);
  expect_nothing_left();
}

TEST_P(ClientTurns, jobs_when_a_client_comes_later_then_it_has_saved_up_no_turns) {
  grant("weight=2", "weight=2");
  post_as("a", 8 * window, "priority=background");
  run_until_done(alice(), 4 * window);
  post_as("b", 3 * window);
  const auto before = done(alice());
  run_until_done(bob(), 2 * window);
  EXPECT_NEAR(static_cast<double>(done(alice()) - before), 3 * window, 12);
}

TEST_P(ClientTurns, jobs_when_a_client_may_run_two_then_its_others_wait_and_block_nobody) {
  grant("running=2", "");
  post_as("a", 1, "priority=background", three_blocks);
  run_until_running(1);
  post_as("a", 1, {}, three_blocks);
  run_until_running(2);
  const auto waits = post_as("a", 3, {}, three_blocks);
  for (const auto& id : waits) EXPECT_NE(alice().waiting.find(id), nullptr);
  post_as("b", 3);
  std::size_t most = 0;
  for (int i = 0; i < 10'000 && done(alice()) < 5; ++i) {
    step();
    most = std::max(most, running(alice()));
  }
  EXPECT_EQ(most, 2U);
  EXPECT_EQ(done(alice()), 5U);
  run_until_done(bob(), 3);
  expect_nothing_left();
}

TEST_P(ClientTurns, jobs_when_those_of_another_client_wait_for_its_bound_then_they_run_meanwhile) {
  grant("running=1", "");
  post_as("a", 3, "priority=background", three_blocks);
  post_as("b", 3);
  run_until_done(alice(), 2);
  EXPECT_EQ(done(bob()), 3U);
  run_until_done(alice(), 3);
}

TEST_P(ClientTurns, jobs_when_less_urgent_ones_are_posted_then_urgent_ones_do_not_wait_for_them) {
  grant("running=1", "");
  post_as("a", 1, "priority=background");
  const auto urgent = post_as("a", 1, "priority=user-visible", three_blocks);
  run_network();
  step(), step();
  EXPECT_EQ(running(alice()), 1U);
  EXPECT_EQ(alice().jobs.find(urgent[0])->state(), JobState::running);
  run_until_done(alice(), 2);
  expect_nothing_left();
}

TEST_P(ClientTurns, bound_when_it_is_raised_then_waiting_jobs_start) {
  grant("running=1", "");
  post_as("a", 4, "priority=background", three_blocks);
  run_network();
  step(), step();
  EXPECT_LE(running(alice()), 1U);
  EXPECT_EQ(alice().waiting.size(), 3U);
  grant("running=10", "");
  run_network();
  EXPECT_EQ(alice().waiting.size(), 0U);
  run_until_done(alice(), 4);
  expect_nothing_left();
}

TEST_P(ClientTurns, jobs_when_they_wait_then_they_can_be_aborted_and_moved) {
  grant("running=1 weight=2", "");
  post_as("a", 1, "priority=background", three_blocks);
  run_until_running(1);
  const auto ids = post_as("a", 3, "priority=background", three_blocks);
  post_as("a", 2, "signal=night");
  EXPECT_EQ(alice().waiting.size(), 5U);
  EXPECT_EQ(as_alice("PUT", "/jobs/" + ids[1] + "?priority=user-visible").status, 200U);
  EXPECT_EQ(as_alice("DELETE", "/jobs/" + ids[0]).status, 200U);
  EXPECT_EQ(as_alice("DELETE", "/signals/night").json()["aborted_jobs"], 2);
  EXPECT_EQ(alice().waiting.size(), 2U);
  run_until_done(alice(), 2);
  EXPECT_TRUE(alice().jobs.find(ids[1])->finished());
  run_until_done(alice(), 3);
  EXPECT_EQ(alice().signals.find("night"), nullptr);
  expect_nothing_left();
}

TEST_P(ClientTurns, pause_when_jobs_wait_for_their_turns_then_only_those_of_others_start) {
  grant("running=1 weight=2", "");
  post_as("a", 3);
  EXPECT_EQ(as_alice("POST", "/kinds/digest/pause").status, 200U);
  post_as("a", 1);
  post_as("b", 2);
  run_until_done(bob(), 2);
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(running(alice()) + done(alice()), 0U);
  EXPECT_EQ(alice().run_places.taken(), 0U);
  EXPECT_EQ(as_alice("POST", "/kinds/digest/resume").status, 200U);
  run_until_done(alice(), 4);
  expect_nothing_left();
}

class LinedUpJobs : public ClientTurns {};
INSTANTIATE_TEST_SUITE_P(Journal, LinedUpJobs, testing::Values(false));

TEST_P(LinedUpJobs, pause_when_a_job_has_asked_for_its_start_then_it_starts_after_the_pause) {
  grant("running=1", "");
  post_as("a", 2);
  loop.poll({.tasks = 1});
  EXPECT_EQ(as_alice("POST", "/kinds/digest/pause").status, 200U);
  for (int i = 0; i < 100; ++i) step();
  EXPECT_EQ(running(alice()) + done(alice()), 0U);
  EXPECT_EQ(alice().run_places.taken(), 0U);
  EXPECT_EQ(as_alice("POST", "/kinds/digest/resume").status, 200U);
  run_until_done(alice(), 2);
  expect_nothing_left();
}

TEST_P(LinedUpJobs, drain_when_jobs_wait_for_their_turn_then_they_are_runnable_and_run) {
  grant("running=1", "");
  post_as("a", 3);
  service.start_shutdown();
  for (int i = 0; i < 100 && service.has_runnable_jobs(); ++i) step();
  EXPECT_EQ(done(alice()), 3U);
  expect_nothing_left();
}

TEST_P(LinedUpJobs, drain_when_jobs_that_wait_for_their_turn_are_paused_then_it_need_not_wait) {
  grant("running=1", "");
  EXPECT_EQ(as_alice("POST", "/kinds/digest/pause").status, 200U);
  post_as("a", 2);
  EXPECT_FALSE(service.has_runnable_jobs());
  EXPECT_EQ(as_alice("POST", "/kinds/digest/resume").status, 200U);
  EXPECT_TRUE(service.has_runnable_jobs());
  run_until_done(alice(), 2);
  expect_nothing_left();
}

TEST_P(LinedUpJobs, loop_when_it_is_closed_then_waiting_jobs_are_aborted) {
  grant("running=1", "");
  post_as("a", 1);
  const auto waits = post_as("a", 1)[0];
  loop.close(heist::CloseMode::abort());
  service.start_shutdown();
  grant("", "");
  EXPECT_EQ(alice().jobs.find(waits)->state(), JobState::aborted);
}

TEST_P(LinedUpJobs, get_when_a_job_has_a_delay_then_it_is_delayed_until_it_is_over) {
  grant("weight=2", "");
  const auto id = post_as("a", 1, "delay=3600000")[0];
  EXPECT_EQ(alice().jobs.find(id)->state(), JobState::delayed);
  EXPECT_EQ(alice().depths()[1].delayed, 1U);
  EXPECT_FALSE(service.has_runnable_jobs());
  alice().waiting.wake_some(Clock::now() + std::chrono::hours(2));
  service.post_waiting(alice());
  run_until_done(alice(), 1);
  expect_nothing_left();
}

}  // namespace
}  // namespace heistd
