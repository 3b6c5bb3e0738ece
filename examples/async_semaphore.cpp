// Coroutines that share two connections and one list: the urgent one is served first.
#include <cstdio>
#include <heist/heist.hpp>
#include <string>
#include <vector>

namespace {

struct Shared {
  heist::AsyncSemaphore connections{2};
  heist::AsyncMutex lock;
  std::vector<std::string> pages;
};

heist::Promise<void> fetch(Shared& shared, std::string page, heist::AbortSignal request) {
  auto permit = co_await shared.connections.acquire(request);  // at most two at a time
  co_await heist::yield();                                     // as if it waited for a server
  permit.release();
  auto guard = co_await shared.lock.lock();  // until the end of the scope, across co_awaits, too
  shared.pages.push_back(page);
}

}  // namespace

int main() {
  Shared shared;
  heist::EventLoop loop;
  const heist::Scheduler scheduler = loop.scheduler();
  const heist::AbortController request;
  const auto post = [&](const char* page, heist::TaskPriority priority) {
    scheduler.post([&, page] { static_cast<void>(fetch(shared, page, request.signal())); },
                   {.priority = priority});
  };

  // Two connections are busy when the others come.
  auto first = shared.connections.try_acquire();
  auto second = shared.connections.try_acquire();
  post("picture", heist::TaskPriority::background);
  post("text", heist::TaskPriority::user_visible);
  post("answer", heist::TaskPriority::user_blocking);
  loop.run_until_idle();

  first.release();
  loop.run_until_idle();
  for (const auto& page : shared.pages) std::printf("%s\n", page.c_str());
  return shared.pages == std::vector<std::string>{"answer", "text", "picture"} ? 0 : 1;
}
