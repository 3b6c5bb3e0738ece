// The pulse that a service manager hears.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <heistd/service_pulse.hpp>

namespace heistd {
namespace {

TEST(ServicePulse, beat_when_nothing_else_happens_then_each_one_brings_about_the_next) {
  ASSERT_EQ(::setenv("WATCHDOG_USEC", "2", 1), 0);
  boost::asio::io_context io;
  ServicePulse pulse(io);
  for (int beats = 0; beats < 10'000; ++beats) {
    ASSERT_TRUE(pulse.beat());
    io.restart();
    ASSERT_EQ(io.run_one_for(std::chrono::seconds(10)), 1U) << beats;
  }
  ::unsetenv("WATCHDOG_USEC");
}

}  // namespace
}  // namespace heistd
