#include <heist/detail/event_core.hpp>
#include <heist/detail/node_memory.hpp>

namespace HEIST_NAMESPACE::detail {

Ref<EventCore> EventCore::make(bool is_set) {
  return Ref<EventCore>::adopt(make_node<EventCore>(is_set));
}

void EventCore::destroy(EventCore& core) noexcept { destroy_node(core); }

void EventCore::set() noexcept {
  std::uint64_t word = word_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  do {
    if ((word & set_bit) != 0) return;
  } while (!word_.compare_exchange_weak(word, word + one_set + set_bit,
                                        sync::edge("event:set", sync::release),
                                        sync::relaxed));  // relaxed: a failure only retries.
  serve();
}

void EventCore::reset() noexcept {
  word_.fetch_and(~set_bit, sync::relaxed);  // relaxed: it says nothing of other data.
}

void EventCore::wait(Waiter& waiter) noexcept {
  const std::uint64_t word = word_.load(sync::edge("event:look", sync::acquire));
  // If it is set by now, the waiter goes on: it counts as one from before.
  waiter.seen = word / one_set - (word & set_bit);
  join(waiter);
}

void EventCore::serve_some(WaiterList& granted, std::uint32_t /*left*/) noexcept {
  line().take_unless_seen(word_.load(sync::edge("event:look", sync::acquire)) / one_set, granted);
}

}  // namespace HEIST_NAMESPACE::detail
