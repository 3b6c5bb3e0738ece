#include <heist/detail/wait_core.hpp>

#include "../concurrent/lasting_reason.hpp"
#include "late_drops.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

const Reason& owner_gone_reason() noexcept {
  static const LastingReason reason{
      InvalidStateError("what the coroutine waited for was destroyed")};
  return reason.get();
}

/// It is made before main, so that a destructor does not allocate.
[[maybe_unused]] const Reason& owner_gone_made_ahead = owner_gone_reason();

}  // namespace

void WaitCore::forget(Waiter& waiter) noexcept {
  line_.leave(waiter);
  serve();
}

void WaitCore::close() noexcept {
  closed_.store(true, sync::relaxed);  // relaxed: the request below publishes it.
  serve();
}

void WaitCore::serve() noexcept {
  if (requests_.fetch_add(1, sync::edge("wait_line:serve", sync::acq_rel)) != 0) return;
  Served served;
  std::uint32_t seen = 1;
  do {
    serve_round(served);
  } while (!requests_.compare_exchange_strong(seen, 0, sync::edge("wait_line:serve", sync::acq_rel),
                                              sync::edge("wait_line:seen", sync::acquire)));
  settle(served);
}

void WaitCore::serve_round(Served& served) noexcept {
  const std::uint32_t left = line_.update(served.gone);
  serve_some(served.granted, left);
  // relaxed: the request has ordered it.
  if (!closed_.load(sync::relaxed)) return;
  while (Waiter* const waiter = line_.take_best()) {
    end_lending(*waiter);
    served.refused.add(*waiter);
  }
}

/// A coroutine whose loop is closed is destroyed only after this call has dropped its shares, and
/// its permit goes to the next one then. So this function does not call itself for each of them,
/// and many coroutines of closed loops take no more stack than one.
void WaitCore::settle(Served& served) noexcept {
  const LateDrops frames;
  while (Waiter* const waiter = served.granted.take_first()) {
    const auto share = Ref<Waiter>::adopt(waiter);
    waiter->grant();
  }
  while (Waiter* const waiter = served.refused.take_first()) {
    const auto share = Ref<Waiter>::adopt(waiter);
    waiter->refuse(owner_gone_reason());
  }
  while (Waiter* const waiter = served.gone.take_first()) {
    const auto share = Ref<Waiter>::adopt(waiter);
  }
}

}  // namespace HEIST_NAMESPACE::detail
