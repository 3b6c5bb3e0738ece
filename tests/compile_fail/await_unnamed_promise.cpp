// EXPECT: give the promise a name first
// ONLY: GNU
// g++ up to 12 would destroy the lambda twice. What is named, const, or no promise does not warn.
#include <chrono>
#include <heist/bounded_scheduler.hpp>
#include <heist/timeout.hpp>
#include <memory>
#include <string>
#include <utility>

heist::Promise<void> say(heist::BoundedScheduler bounded, heist::Scheduler scheduler,
                         std::string text) {
#ifdef HEIST_EXPECT_OK
  const auto said = scheduler.post_task([text] { return text; });
  co_await said;
  auto number = scheduler.post_task([] { return std::make_unique<int>(1); });
  const std::unique_ptr<int> taken = co_await number.taken();
  co_await heist::sleep_for(std::chrono::milliseconds(*taken));
  auto room = co_await bounded.room();
  room.leave();
  co_await heist::yield();
  co_await scheduler.yield({heist::inherit, heist::ContinuationPriority::background});
#else
  static_cast<void>(bounded);
  co_await scheduler.post_task([text] { return text; });
#endif
}
