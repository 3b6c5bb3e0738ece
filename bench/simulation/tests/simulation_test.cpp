#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "../node.hpp"

namespace simulation {
namespace {

using namespace std::chrono_literals;

class Simulated : public testing::Test {
 protected:
  /// Of this process alone, as ctest runs each test in one.
  static std::filesystem::path path() {
    return testing::TempDir() + "heistd_simulation_costs_" + std::to_string(::getpid()) + ".tsv";
  }
  static std::filesystem::path table(const std::string& rows) {
    std::ofstream(path()) << "call\tjobs\tlanes\tprocessor\tanswer\n" << rows;
    return path();
  }
  void TearDown() override { std::filesystem::remove(path()); }
  /// All calls take a millisecond, and a claim that of a lane more for each 100 lanes.
  static CallCosts costs() {
    return CallCosts(
        table("submit\t1\t3\t1000\t0\nclaim\t0\t3\t1000\t0\nclaim\t0\t103\t2000\t0\n"
              "complete\t1\t3\t1000\t0\nlook\t8\t3\t1000\t0\nrenew\t0\t3\t1000\t0\n"
              "hint\t0\t3\t1000\t0\n"));
  }
  static Job job(std::size_t level, Time work) { return {level, {}, work}; }

  World world{1};
  Figures figures;
};

TEST_F(Simulated, costs_between_two_rows_are_between_them_and_beyond_the_last_go_on) {
  const CallCosts read(table("claim\t0\t3\t100\t0\nclaim\t10\t3\t200\t0\nclaim\t30\t3\t300\t0\n"));
  EXPECT_NEAR(seconds_of(read.of("claim", 5)), 150e-6, 1e-8);
  EXPECT_NEAR(seconds_of(read.of("claim", 20)), 250e-6, 1e-8);
  EXPECT_NEAR(seconds_of(read.of("claim", 50)), 400e-6, 1e-8);
}

TEST_F(Simulated, costs_that_are_no_table_are_refused) {
  EXPECT_THROW(CallCosts(table("claim\tmany\n")), std::runtime_error);
  EXPECT_THROW(CallCosts(table("")), std::runtime_error);
}

TEST_F(Simulated, agents_that_are_full_run_an_urgent_job_after_a_chunk) {
  Agents agents(world, figures, 1, [](const Job& /*ended*/) {});
  agents.add(job(background, 1s));
  agents.add(job(user_blocking, 10ms));
  world.advance(chunk);
  ASSERT_EQ(figures.start_delays[user_blocking].size(), 1U);
  EXPECT_EQ(agents.held()[background], 2U);
}

TEST_F(Simulated, what_gave_way_goes_on_with_the_rest_of_its_work) {
  std::vector<Time> ends;
  Agents agents(world, figures, 1, [&](const Job& /*ended*/) { ends.push_back(world.now()); });
  agents.add(job(background, 50ms));
  agents.add(job(user_blocking, 10ms));
  world.advance(1s);
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_NEAR(seconds_of(ends[1]), 0.060, 0.0002);
  EXPECT_EQ(figures.start_delays[background].size(), 1U);
}

TEST_F(Simulated, a_claim_brings_urgent_jobs_first_and_no_more_than_agents_are_free_for) {
  Database database(world, figures, costs(), {.processors = 1, .lanes = 3});
  std::vector<Job> jobs = {job(background, 1s), job(user_blocking, 1s), job(background, 1s)};
  database.accept(jobs);
  std::vector<std::size_t> claimed;
  const auto claim = [&](std::size_t held) {
    claimed.clear();
    database.claim(3, {held, 0, 0}, [&](const std::vector<Job>& brought) {
      for (const auto& one : brought) claimed.push_back(one.level);
    });
    world.advance(1s);
  };
  claim(1);
  EXPECT_EQ(claimed, (std::vector{user_blocking, background}));
  claim(3);
  EXPECT_EQ(claimed, std::vector<std::size_t>());
}

TEST_F(Simulated, calls_wait_for_a_processor_and_the_number_of_lanes_makes_claims_dearer) {
  Database database(world, figures, costs(), {.processors = 1, .lanes = 103});
  std::vector<Time> answers;
  for (int call = 0; call < 2; ++call) {
    database.claim(1, {}, [&](const std::vector<Job>&) { answers.push_back(world.now()); });
  }
  world.advance(1s);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_NEAR(seconds_of(answers[1] - answers[0]), 0.002, 0.0001);
}

TEST_F(Simulated, jobs_of_a_node_that_dies_run_again_elsewhere_once_its_lease_is_over) {
  const Setting setting{.agents = 1, .processors = 1, .lanes = 3};
  const auto read = costs();
  Database database(world, figures, read, setting);
  Node first(world, figures, database, setting);
  Node second(world, figures, database, setting);
  world.advance(heartbeat);
  first.submit(job(background, 60s));
  world.advance(1s);
  ASSERT_EQ(figures.start_delays[background].size(), 1U);
  first.die();
  second.die();
  world.advance(lease / 2);
  EXPECT_EQ(figures.run_again, 0U);
  world.advance(lease + 61s);
  EXPECT_EQ(figures.run_again, 1U);
  EXPECT_EQ(figures.ended, 1U);
}

}  // namespace
}  // namespace simulation
