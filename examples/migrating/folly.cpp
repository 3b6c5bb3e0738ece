// What programs that use folly's executors write with heist (docs/migrating/folly.md). Debian has
// no folly, so only that half is here.
#include <cstdio>
#include <heist/heist.hpp>
#include <stdexcept>
#include <string>
#include <tuple>

namespace {

std::string read_page(int number) { return "page " + std::to_string(number); }
std::string to_upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

bool post(std::atomic<int>& done) {
  heist::AgentCluster pool({.agents = 2, .name = "pool"});
  const heist::Scheduler scheduler = pool.scheduler();
  scheduler.post([&] { ++done; }, {.priority = heist::TaskPriority::user_blocking});
  scheduler.post([&] { ++done; }, {.priority = heist::TaskPriority::background});
  const heist::CloseReport report = pool.close(heist::CloseMode::drain());
  return report.aborted == 0;
}

heist::Promise<std::string> chain(const heist::Scheduler& scheduler) {
  return scheduler.post_task([] { return read_page(1); })
      .then(scheduler, [](const std::string& page) { return to_upper(page); });
}

heist::Promise<std::string> read_both(heist::Scheduler scheduler) {
  auto first = scheduler.post_task([] { return read_page(1); });
  auto second = scheduler.post_task([] { return read_page(2); });
  auto both = heist::when_all(first, second);
  const auto [one, two] = co_await both;
  co_return one + ", " + two;
}

bool cancel(const heist::Scheduler& scheduler) {
  heist::AbortController request;
  const auto page = scheduler.post_task(
      [] { return read_page(1); }, {.signal = request.signal(), .delay = heist::Delay::never()});
  request.abort();
  try {
    page.get();
    return false;
  } catch (const heist::AbortError&) {
    return true;
  }
}

}  // namespace

int main() {
  std::atomic<int> done{0};
  if (!post(done) || done != 2) return 1;

  const heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler scheduler = cluster.scheduler();
  const auto both = scheduler.post_task([&] { return read_both(scheduler); });
  std::printf("%s; %s\n", chain(scheduler).get().c_str(), both.get().c_str());
  return chain(scheduler).get() == "PAGE 1" && both.get() == "page 1, page 2" && cancel(scheduler)
             ? 0
             : 1;
}
