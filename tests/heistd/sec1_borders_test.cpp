// SEC-1: what one client does takes nothing from another, and its job ids tell nothing.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "api_fixture.hpp"

namespace heistd {
namespace {

Limits small() {
  Limits limits;
  limits.max_body = 1000;
  limits.max_queued_bytes = 3 * mib;
  limits.max_results = 2;
  return limits;
}

struct Sec1Borders : ApiFixture {
  Sec1Borders() : ApiFixture(small()) {}
  void as(std::string_view header) { authorization = header; }
  std::string finished_job() {
    const auto job = post("/jobs/digest");
    run_all();
    return job;
  }
};

TEST_F(Sec1Borders, results_when_another_client_has_many_then_ones_own_stay) {
  as("Bearer a");
  const auto mine = finished_job();
  as("Bearer b");
  for (int i = 0; i < 5; ++i) finished_job();
  as("Bearer a");
  EXPECT_EQ(state(mine), "done");
}

TEST_F(Sec1Borders, signals_when_another_client_has_all_its_names_then_ones_own_are_free) {
  as("Bearer a");
  for (std::size_t i = 0; i < max_signals; ++i) {
    call("PUT", "/signals/s" + std::to_string(i) + "?priority=background");
  }
  ASSERT_EQ(call("PUT", "/signals/more?priority=background").status, 503U);
  as("Bearer b");
  EXPECT_EQ(call("PUT", "/signals/more?priority=background").status, 201U);
}

TEST_F(Sec1Borders, memory_when_another_clients_jobs_take_all_of_theirs_then_ones_own_is_free) {
  as("Bearer a");
  unsigned last = 202;
  for (int i = 0; last == 202 && i < 1000; ++i) {
    last = call("POST", "/jobs/search?pattern=p", "x").status;
  }
  ASSERT_EQ(last, 503U);
  as("Bearer b");
  EXPECT_EQ(call("POST", "/jobs/search?pattern=p", "x").status, 202U);
}

TEST_F(Sec1Borders, put_when_above_the_ceiling_and_the_signal_is_in_use_then_403_and_it_stays) {
  as("Bearer b");
  const auto job = post("/jobs/digest?signal=g");
  EXPECT_EQ(call("PUT", "/signals/g?priority=user-visible").error(), "above_ceiling");
  EXPECT_EQ(call("GET", job).json()["priority"], "background");
}

TEST_F(Sec1Borders, post_when_in_a_signal_and_above_the_ceiling_then_403) {
  as("Bearer b");
  EXPECT_EQ(call("POST", "/jobs/digest?signal=g&priority=user-visible", "x").status, 403U);
  EXPECT_EQ(call("DELETE", "/signals/g").status, 404U);
}

// Aborting makes work for the agent; it must not go before the jobs of clients with a higher
// ceiling.
TEST_F(Sec1Borders, delete_when_the_client_has_a_low_ceiling_then_higher_jobs_do_not_wait_for_it) {
  as("Bearer b");
  const auto low = post("/jobs/digest?signal=g");
  call("DELETE", low);
  as("Bearer a");
  const auto high = post("/jobs/digest");
  run_one();
  EXPECT_EQ(state(high), "done");
}

/// The bits of an id.
std::array<bool, 128> bits_of(const JobId& id) {
  std::array<bool, 128> bits{};
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const char digit = id[i / 4];
    const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    bits[i] = ((value >> (i % 4)) & 1) != 0;
  }
  return bits;
}

// A counter, a clock or a padded number leaves bits that hardly change. The bounds are ten standard
// deviations wide.
TEST(Sec1JobId, job_id_when_many_are_made_then_every_bit_is_set_in_half_of_them) {
  constexpr int count = 2500;
  std::array<int, 128> set{};
  for (int i = 0; i < count; ++i) {
    const auto bits = bits_of(make_job_id());
    for (std::size_t bit = 0; bit < bits.size(); ++bit) set[bit] += bits[bit] ? 1 : 0;
  }
  for (const int times : set) {
    EXPECT_GT(times, 1000);
    EXPECT_LT(times, 1500);
  }
}

/// The id a forked copy of this process makes next.
JobId id_of_a_copy() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto id = make_job_id();
    ::_exit(::write(ends[1], id.data(), id.size()) == static_cast<ssize_t>(id.size()) ? 0 : 1);
  }
  JobId id(32, '\0');
  EXPECT_EQ(::read(ends[0], id.data(), id.size()), static_cast<ssize_t>(id.size()));
  for (const int end : ends) ::close(end);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  return id;
}

// A generator with a state of its own would go on alike in both.
TEST(Sec1JobId, job_id_when_made_by_two_processes_of_the_same_state_then_not_the_same) {
  static_cast<void>(make_job_id());
  const auto theirs = id_of_a_copy();
  EXPECT_TRUE(is_job_id(theirs)) << theirs;
  EXPECT_NE(make_job_id(), theirs);
}

}  // namespace
}  // namespace heistd
