// How to test code that uses delays: on a virtual clock an hour takes no time, and every run is the
// same.
#include <chrono>
#include <cstdio>
#include <heist/heist.hpp>

using namespace std::chrono_literals;

namespace {

/// The code under test: calls `save()` once, a minute after the last change.
class Autosave {
 public:
  explicit Autosave(heist::Scheduler scheduler) : scheduler_(std::move(scheduler)) {}

  void changed(int& saves) {
    pending_.abort();
    pending_ = heist::AbortController();
    scheduler_.post([&saves] { ++saves; }, {.signal = pending_.signal(), .delay = 1min});
  }

 private:
  heist::Scheduler scheduler_;
  heist::AbortController pending_;
};

bool check(const char* what, bool holds) {
  std::printf("%s: %s\n", holds ? "ok" : "FAILED", what);
  return holds;
}

}  // namespace

int main() {
  heist::EventLoop loop({.clock = heist::LoopClock::virtual_time});
  Autosave autosave(loop.scheduler());
  int saves = 0;

  autosave.changed(saves);
  loop.advance(59s);
  bool passed = check("not saved before a minute is over", saves == 0);
  autosave.changed(saves);
  loop.advance(59s);
  passed &= check("a change starts the minute again", saves == 0);
  loop.advance(1s);
  passed &= check("saved after a minute without changes", saves == 1);
  loop.advance(24h);
  passed &= check("saved once", saves == 1);
  return passed ? 0 : 1;
}
