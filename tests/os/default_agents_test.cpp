// How many agents a cluster has by itself, from limits and HEIST_AGENTS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>

#include <stdexcept>

#include "heist/os/cpu_limit.hpp"
#include "heist/os/thread.hpp"
#include "support/threads.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::ThrowsMessage;

constexpr unsigned most = 56;

TEST(AgentsFor, agents_for_when_no_variable_then_the_tightest_limit) {
  EXPECT_EQ(agents_for({.hardware = 8, .affinity = 6, .quota = 4}, nullptr, most), 4U);
  EXPECT_EQ(agents_for({.hardware = 8, .affinity = 3, .quota = 4}, nullptr, most), 3U);
  EXPECT_EQ(agents_for({.hardware = 2, .affinity = 3, .quota = 4}, nullptr, most), 2U);
}

TEST(AgentsFor, agents_for_when_a_limit_is_unknown_then_the_others) {
  EXPECT_EQ(agents_for({.hardware = 8, .affinity = 6}, nullptr, most), 6U);
  EXPECT_EQ(agents_for({.affinity = 6}, nullptr, most), 6U);
  EXPECT_EQ(agents_for({.quota = 4}, nullptr, most), 4U);
}

TEST(AgentsFor, agents_for_when_nothing_is_known_then_one) {
  EXPECT_EQ(agents_for({}, nullptr, most), 1U);
}

TEST(AgentsFor, agents_for_when_the_machine_is_large_then_most_agents) {
  EXPECT_EQ(agents_for({.hardware = 256, .affinity = 128}, nullptr, most), most);
}

TEST(AgentsFor, agents_for_when_variable_then_it_overrides_all_limits) {
  const CpuLimits limits{.hardware = 8, .affinity = 6, .quota = 4};
  EXPECT_EQ(agents_for(limits, "1", most), 1U);
  EXPECT_EQ(agents_for(limits, "12", most), 12U);
  EXPECT_EQ(agents_for(limits, "56", most), 56U);
}

TEST(AgentsFor, agents_for_when_variable_is_no_number_of_agents_then_refused) {
  for (const auto* text : {"", " ", "0", "57", "-1", "+4", " 4", "4 ", "4\n", "4.0", "0x4", "1e1",
                           "four", "4294967297", "99999999999999999999"}) {
    EXPECT_THROW(static_cast<void>(agents_for({.hardware = 8}, text, most)), std::invalid_argument)
        << '"' << text << '"';
  }
}

TEST(AgentsFor, agents_for_when_refused_then_the_message_says_what_is_expected) {
  EXPECT_THAT([] { static_cast<void>(agents_for({}, "many", most)); },
              ThrowsMessage<std::invalid_argument>(AllOf(
                  HasSubstr("HEIST_AGENTS"), HasSubstr("\"many\""), HasSubstr("from 1 to 56"))));
}

/// Without the variable, whatever the environment of the tests says.
class DefaultAgents : public testing::Test {
 protected:
  DefaultAgents() { unsetenv("HEIST_AGENTS"); }
  ~DefaultAgents() override { unsetenv("HEIST_AGENTS"); }
};

TEST_F(DefaultAgents, default_agents_when_no_variable_then_no_more_than_the_mask_allows) {
  ASSERT_THAT(available_cpus(), Ge(1U));
  EXPECT_THAT(default_agents(most), AllOf(Ge(1U), Le(available_cpus())));
}

TEST_F(DefaultAgents, default_agents_when_thread_is_bound_to_a_cpu_then_one) {
  support::on_thread([] {
    pin_this_thread(sched_getcpu());
    EXPECT_EQ(available_cpus(), 1U);
    EXPECT_EQ(default_agents(most), 1U);
  });
}

TEST_F(DefaultAgents, default_agents_when_fewer_cpus_are_to_be_used_then_no_more) {
  EXPECT_EQ(default_agents(most, 1), 1U);
}

TEST_F(DefaultAgents, default_agents_when_variable_then_that_many) {
  setenv("HEIST_AGENTS", "17", 1);
  EXPECT_EQ(default_agents(most), 17U);
}

TEST_F(DefaultAgents, default_agents_when_variable_is_empty_then_refused) {
  setenv("HEIST_AGENTS", "", 1);
  EXPECT_THROW(static_cast<void>(default_agents(most)), std::invalid_argument);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
