// A comparison whose figures are known and whose subjects misbehave, for the tests of the frame.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "../command_line.hpp"

int main(int argc, char** argv) {
  bench::Registry registry;
  const auto add = [&](const char* workload, const char* subject, auto measure) {
    registry.add({.workload = workload, .subject = subject, .unit = "ns", .measure = measure});
  };
  add("known", "heist", [](bench::Run& run) { run.report(30); });
  add("known", "peer", [](bench::Run& run) { run.report(60); });
  add("known", "worse_peer", [](bench::Run& run) { run.report(90); });
  add("known", "raw_floor", [](bench::Run& run) { run.report(10); });
  add("nothing", "heist", [](bench::Run& run) { run.report(0); });
  add("less", "heist", [](bench::Run& run) { run.report(-5); });
  add("trouble", "dies", [](bench::Run&) { std::abort(); });
  add("trouble", "fails", [](bench::Run&) { std::_Exit(3); });
  add("trouble", "hangs", [](bench::Run&) { pause(); });
  add("trouble", "mumbles", [](bench::Run&) { std::printf("well "); });
  add("trouble", "forgets", [](bench::Run&) {});
  return bench::compare(argc, argv, registry);
}
