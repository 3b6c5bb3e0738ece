// Heist beside its peers: see docs/benchmarks.md. Run it through bench/compare.
#include "command_line.hpp"
#include "workloads/workloads.hpp"

int main(int argc, char** argv) {
  bench::Registry registry;
  bench::add_all(registry);
  return bench::compare(argc, argv, registry);
}
