// Combinators: inputs that settle on several threads, against each other and the close of the loop
// (PRO-1, LIF-1).
#include <heist/heist.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

#include "../support.hpp"

using namespace heist;
using namespace heist::model;

namespace {

template <class T>
struct Settling {
  PromiseWithResolver<T> pair = Promise<T>::with_resolver();

  void resolve(T value) { pair.resolver.resolve(std::move(value)); }
};

}  // namespace

/// Two inputs settle on threads of their own: all values are there, once both are.
HEIST_MODEL_PROGRAM(two_inputs_settle, 2) {
  EventLoop loop(on_virtual_clock());
  Settling<int> first;
  Settling<int> second;
  spawn([&] {
    const Operation operation("resolve");
    first.resolve(1);
  });
  spawn([&] {
    const Operation operation("resolve");
    second.resolve(2);
  });
  const auto all = [&] {
    const Operation operation("combine promises");
    return when_all(loop.scheduler(), first.pair.promise, second.pair.promise);
  }();
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(all.get() == std::tuple(1, 2), "all values");
}

/// The loop is closed: both threads drop their reactions, and one of them settles, once.
HEIST_MODEL_PROGRAM(two_inputs_settle_on_a_closed_loop, 2) {
  EventLoop loop(on_virtual_clock());
  Settling<std::shared_ptr<int>> first;
  Settling<std::shared_ptr<int>> second;
  const auto all = when_all(loop.scheduler(), first.pair.promise, second.pair.promise);
  loop.close(CloseMode::abort());
  spawn([&] { first.resolve(std::make_shared<int>(1)); });
  spawn([&] { second.resolve(std::make_shared<int>(2)); });
  if (!join_all()) return;
  check(all.status() == PromiseStatus::rejected, "nothing is left pending");
}

/// One input has had its say on the agent when the loop is closed, and another thread drops the
/// other one's.
HEIST_MODEL_PROGRAM(input_settles_against_close, 2) {
  EventLoop loop(on_virtual_clock());
  Settling<std::shared_ptr<int>> first;
  Settling<std::shared_ptr<int>> second;
  auto all = std::make_unique<Promise<std::tuple<std::shared_ptr<int>, std::shared_ptr<int>>>>(
      when_all(loop.scheduler(), first.pair.promise, second.pair.promise));
  first.resolve(std::make_shared<int>(1));
  spawn([&] { second.resolve(std::make_shared<int>(2)); });
  loop.close(CloseMode::abort());
  if (!join_all()) return;
  check(all->settled(), "nothing is left pending");
}
