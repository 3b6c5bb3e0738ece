#include <algorithm>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/semaphore_core.hpp>
#include <stdexcept>

namespace HEIST_NAMESPACE::detail {

Ref<SemaphoreCore> SemaphoreCore::make(std::size_t permits) {
  if (permits > static_cast<std::size_t>(most_permits)) {
    throw std::invalid_argument("AsyncSemaphore: more than 2^30 - 1 permits");
  }
  return Ref<SemaphoreCore>::adopt(make_node<SemaphoreCore>(static_cast<std::int64_t>(permits)));
}

Ref<SemaphoreCore> SemaphoreCore::make_mutex() {
  auto core = make(1);
  core->lent_.emplace();
  return core;
}

void SemaphoreCore::destroy(SemaphoreCore& core) noexcept { destroy_node(core); }

void SemaphoreCore::add_permits(std::uint32_t count) {
  std::int64_t word = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  do {
    if (balance_of(word) + count > most_permits) {
      throw std::overflow_error(
          "AsyncSemaphore::release: more than 2^30 - 1 permits would be free");
    }
  } while (!word_.compare_exchange_weak(word, word + permit * count,
                                        sync::edge("permit:add", sync::release),
                                        sync::relaxed));  // relaxed: a failure only retries.
  owe(count, balance_of(word));
}

void SemaphoreCore::pass_on() noexcept {
  owe(1, balance_of(word_.fetch_add(permit, sync::edge("permit:add", sync::release))));
}

void SemaphoreCore::owe(std::int64_t count, std::int64_t balance) noexcept {
  if (balance >= 0) return;
  owed_.fetch_add(std::min(count, -balance), sync::edge("permit:owe", sync::release));
  serve();
}

void SemaphoreCore::wait(Waiter& waiter) noexcept {
  if (lent_) lent_->wait(*waiter.lender);
  put_in_line(waiter);
  const auto word = word_.fetch_sub(permit, sync::edge("permit:join", sync::acquire));
  // A free permit goes through the line, too, so that the most urgent waiter gets it.
  if (balance_of(word) > 0) owed_.fetch_add(1, sync::edge("permit:owe", sync::release));
  serve();
}

void SemaphoreCore::serve_some(WaiterList& granted, std::uint32_t left) noexcept {
  for (; left != 0; --left) count_left();
  while (owed_.load(sync::edge("permit:give", sync::acquire)) > 0) {
    Waiter* const waiter = line().take_best();
    if (waiter == nullptr) return;
    owed_.fetch_sub(1, sync::relaxed);  // relaxed: the server's own look at it.
    end_lending(*waiter);
    if (lent_) lent_->hold(*waiter->lender);
    granted.add(*waiter);
  }
}

void SemaphoreCore::end_lending(Waiter& waiter) noexcept {
  if (lent_) lent_->stop_waiting(*waiter.lender);
}

/// See I2.
void SemaphoreCore::count_left() noexcept {
  const auto word = word_.fetch_add(permit, sync::edge("permit:add", sync::release));
  // relaxed: the server's own look at it.
  if (balance_of(word) >= 0) owed_.fetch_sub(1, sync::relaxed);
}

}  // namespace HEIST_NAMESPACE::detail
