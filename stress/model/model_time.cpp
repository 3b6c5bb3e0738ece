#include "model_time.hpp"

#include "engine/engine.hpp"

namespace heist::model {

using namespace detail;

ModelTime::ModelTime() noexcept { current_ = this; }

ModelTime::~ModelTime() { current_ = nullptr; }

ModelTime* ModelTime::current() noexcept {
  return Engine::watching(__builtin_return_address(0)) != nullptr ? current_ : nullptr;
}

ModelTime::Clock::time_point ModelTime::now() const noexcept {
  return Clock::time_point(std::chrono::nanoseconds(now_.load(sync::seq_cst)));
}

void ModelTime::slept_until(Clock::time_point deadline) noexcept {
  const std::int64_t then = std::chrono::nanoseconds(deadline.time_since_epoch()).count();
  std::int64_t now = now_.load(sync::relaxed);
  while (now < then && !now_.compare_exchange_weak(now, then, sync::seq_cst, sync::relaxed)) {
  }
}

}  // namespace heist::model

namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names.
Clock::time_point real_now() noexcept asm("__real__ZNSt6chrono3_V212steady_clock3nowEv");
Clock::time_point model_now() noexcept asm("__wrap__ZNSt6chrono3_V212steady_clock3nowEv");
// NOLINTEND(bugprone-reserved-identifier)

Clock::time_point model_now() noexcept {
  const auto* time = heist::model::ModelTime::current();
  return time != nullptr ? time->now() : real_now();
}
