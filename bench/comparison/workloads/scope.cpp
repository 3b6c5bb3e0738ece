// scope2/N: a thread starts N tasks that refer to what it owns, and waits until all have ended.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../subjects/scopes/asio_latches.hpp"
#include "../../subjects/scopes/heist_scopes.hpp"
#include "../../subjects/scopes/tbb_groups.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr int threads = 2;
constexpr std::int64_t all_tasks = 400'000;

/// A scope of `count` tasks, as often as it takes.
template <class Scopes>
void scope(Run& run, std::int64_t count) {
  const auto scopes = std::max<std::int64_t>(1, run.scaled(all_tasks) / count);
  std::vector<std::int64_t> calls(static_cast<std::size_t>(count));
  const auto work = [&](std::int64_t task) { ++calls[static_cast<std::size_t>(task)]; };
  Scopes subject(threads);
  subject.run(count, work);
  run.start();
  for (std::int64_t i = 0; i < scopes; ++i) subject.run(count, work);
  run.stop(scopes * count);
  run.report_time();
  const auto is_wrong = [&](std::int64_t called) { return called != scopes + 1; };
  if (std::ranges::any_of(calls, is_wrong)) std::abort();
}

}  // namespace

void add_scope(Registry& registry) {
  for (const std::int64_t count : {8, 10'000}) {
    const std::string name = count == 8 ? "scope2/8" : "scope2/1e4";
    add_for(SubjectList<HeistScopes, TbbGroups, AsioLatches>(), registry,
            {.workload = name, .subject = {}, .unit = "ns", .measure = {}},
            [count]<class Scopes>(Run& run) { scope<Scopes>(run, count); });
  }
}

}  // namespace bench
