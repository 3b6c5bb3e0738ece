#include "post_bound.hpp"

#include <heist/detail/node_memory.hpp>
#include <memory>
#include <stdexcept>

namespace HEIST_NAMESPACE::detail {

Promise<Room> PostBound::wait() {
  auto pair = Promise<Room>::with_resolver();
  try {
    join(std::move(pair.resolver));
  } catch (...) {
    static_cast<void>(pair.promise.reason());  // nobody else observes it
    throw;
  }
  // A free place goes through the line, too, so that the first waiter in the line gets it.
  if (free_.fetch_sub(1, sync::edge("room:join", sync::acq_rel)) > 0) owe();
  return std::move(pair.promise);
}

void PostBound::join(Resolver<Room> resolver) {
  auto waiter = std::make_unique<Resolver<Room>>(std::move(resolver));
  line_.join(waiter.get());
  static_cast<void>(waiter.release());  // the line has it
}

void PostBound::owe() noexcept {
  owed_.fetch_add(1, sync::edge("room:owe", sync::release));
  serve();
}

void PostBound::serve() noexcept {
  const auto self = Ref<PostBound>::share(this);
  if (requests_.fetch_add(1, sync::edge("room:serve", sync::acq_rel)) != 0) return;
  for (std::uint32_t seen = 1;;) {
    serve_some();
    if (requests_.compare_exchange_strong(seen, 0, sync::edge("room:serve", sync::acq_rel),
                                          sync::edge("room:seen", sync::acquire))) {
      return;
    }
  }
}

/// Called by the server.
void PostBound::serve_some() noexcept {
  while (owed_.load(sync::edge("room:give", sync::acquire)) > 0) {
    const std::unique_ptr<Resolver<Room>> waiter(static_cast<Resolver<Room>*>(line_.next()));
    if (waiter == nullptr) return;
    owed_.fetch_sub(1, sync::relaxed);  // relaxed: nobody else lowers it.
    waiter->resolve(Room(Ref<PostBound>::share(this)));
  }
}

void retain(PostBound& bound) noexcept { bound.shares_.add(); }

void release(PostBound& bound) noexcept {
  if (bound.shares_.drop()) delete &bound;
}

}  // namespace HEIST_NAMESPACE::detail

namespace HEIST_NAMESPACE {

using namespace detail;

void Room::leave() noexcept {
  if (!bound_) return;
  const auto bound = std::move(bound_);
  bound->leave();
}

}  // namespace HEIST_NAMESPACE

namespace HEIST_NAMESPACE::detail {

Room try_take_room(const Ref<PostBound>& bound) noexcept {
  return bound->try_take() ? Access::make<Room>(bound) : Room();
}

Promise<Room> wait_for_room(const Ref<PostBound>& bound) { return bound->wait(); }

Ref<PostBound> make_post_bound(std::size_t places) {
  constexpr std::size_t most = std::size_t{1} << 31;
  if (places == 0 || places > most) {
    throw std::invalid_argument("BoundedScheduler: the bound must be from 1 to 2^31");
  }
  return Ref<PostBound>::adopt(new PostBound(static_cast<std::int64_t>(places)));
}

}  // namespace HEIST_NAMESPACE::detail
