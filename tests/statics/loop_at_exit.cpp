// A loop and a resolver at namespace scope: what they leave settles while the program ends, with
// the right reasons. Rule: LIF-1, LIF-2.
#include <cstdio>
#include <cstdlib>
#include <heist/heist.hpp>
#include <optional>

namespace {

using namespace heist;

template <class Error>
void expect_rejected(const std::optional<Promise<int>>& promise, const char* what) {
  try {
    if (promise && promise->reason()) promise->reason().rethrow();
  } catch (const Error&) {
    return;
  } catch (...) {
  }
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::_Exit(1);
}

/// Destroyed after what follows: looks what became of it.
struct Findings {
  ~Findings() {
    expect_rejected<AbortError>(of_task, "the promise of a task of a static loop");
    expect_rejected<InvalidStateError>(of_resolver, "the promise of a static resolver");
    expect_rejected<InvalidStateError>(of_coroutine, "the promise of a coroutine left waiting");
  }
  std::optional<Promise<int>> of_task;
  std::optional<Promise<int>> of_resolver;
  std::optional<Promise<int>> of_coroutine;
};

Findings findings;
std::optional<PromiseWithResolver<int>> source;
EventLoop loop;

Promise<int> follow(Promise<int> promise) {
  const int value = co_await promise;
  co_return value;
}

}  // namespace

int main() {
  source.emplace(Promise<int>::with_resolver());
  findings.of_resolver = source->promise;
  findings.of_task = loop.scheduler().post_task([] { return 1; }, {.delay = std::chrono::hours(1)});
  loop.scheduler().post([] { findings.of_coroutine = follow(source->promise); });
  loop.run_until_idle();
}
