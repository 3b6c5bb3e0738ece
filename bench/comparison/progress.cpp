#include "progress.hpp"

#include <cstdio>

namespace bench {

namespace {

constexpr auto pause = std::chrono::seconds(5);

std::string clock_text(std::chrono::steady_clock::duration duration) {
  const auto seconds = std::chrono::round<std::chrono::seconds>(duration).count();
  const auto rest = std::to_string(seconds % 60);
  return std::to_string(seconds / 60) + (rest.size() == 1 ? ":0" : ":") + rest;
}

}  // namespace

void Progress::begin(const std::string& what) {
  const auto now = Clock::now();
  if (now - said_ < pause) return;
  said_ = now;
  const auto elapsed = now - started_;
  // A step takes about as long as those before it did.
  const auto left = done_ == 0
                        ? std::string("?")
                        : clock_text(elapsed / std::int64_t(done_) * std::int64_t(steps_ - done_));
  std::fprintf(stderr, "compare: %s, %s elapsed, about %s left\n", what.c_str(),
               clock_text(elapsed).c_str(), left.c_str());
}

void Progress::end() { ++done_; }

}  // namespace bench
