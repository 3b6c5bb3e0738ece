// Several promises as one: all of them, the first good one, the first one at all, and a limit in
// time.
#include <chrono>
#include <cstdio>
#include <heist/heist.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using std::chrono::milliseconds;

heist::Promise<std::string> fetch(std::string from, milliseconds takes) {
  co_await heist::sleep_for(takes);
  co_return "page of " + from;
}

/// Who is first, the page or the limit? The sleep is aborted when the page is.
heist::Promise<bool> is_fetched_within(milliseconds limit) {
  heist::AbortController too_late;
  auto first = heist::race(fetch("slow.example", milliseconds(20)),
                           heist::sleep_for(limit, too_late.signal()));
  const auto winner = co_await first;
  too_late.abort();
  co_return winner.index() == 0;
}

heist::Promise<void> show() {
  std::vector<heist::Promise<std::string>> fetching;
  for (const char* host : {"a.example", "b.example"}) {
    fetching.push_back(fetch(host, milliseconds(2)));
  }
  auto all = heist::when_all(std::move(fetching));
  const auto pages = co_await all;
  for (const auto& page : pages) std::printf("%s\n", page.c_str());

  auto failing = heist::Promise<std::string>::rejected(heist::Reason("no route"));
  auto mirrors = heist::when_any(failing, fetch("mirror.example", milliseconds(1)));
  const std::string page = co_await mirrors;
  std::printf("%s\n", page.c_str());

  auto within = is_fetched_within(milliseconds(5));
  const bool fetched = co_await within;
  std::printf("%s\n", fetched ? "in time" : "too late");
}

}  // namespace

int main() {
  heist::EventLoop loop({.clock = heist::LoopClock::virtual_time});
  const auto shown = loop.scheduler().post_task(&show);
  loop.advance(milliseconds(100));
  shown.get();
  return 0;
}
