#include "waiting_line.hpp"

#include <new>

#include "moodycamel.hpp"

namespace HEIST_NAMESPACE::detail {

struct WaitingLine::Queue {
  /// Asks for little memory at first, because the queue's default is for many thousands.
  moodycamel::ConcurrentQueue<void*> waiters{1};
};

WaitingLine::WaitingLine() : queue_(std::make_unique<Queue>()) {}
WaitingLine::~WaitingLine() = default;

void WaitingLine::join(void* waiter) {
  if (!queue_->waiters.enqueue(waiter)) throw std::bad_alloc();
}

void* WaitingLine::next() noexcept {
  void* waiter = nullptr;
  return queue_->waiters.try_dequeue(waiter) ? waiter : nullptr;
}

}  // namespace HEIST_NAMESPACE::detail
