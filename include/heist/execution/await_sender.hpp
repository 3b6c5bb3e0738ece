// co_await of a sender, in coroutines that return a Promise.
#pragma once

#include <heist/detail/coroutine.hpp>
#include <heist/execution/library.hpp>
#include <heist/execution/to_promise.hpp>
#include <utility>

namespace HEIST_NAMESPACE::detail {

/// The sender is started where the coroutine runs, and its environment has that scheduler. The
/// coroutine goes on where it was, with its scheduling state, as from a Promise (YLD-3, YLD-4).
///
/// Errors: of the `co_await`: NotAllowedError where no loop runs.   Spec: contract SND-7.
template <class Sender>
  requires execution::ex::sender<Sender> && (!is_awaitable<Sender>)
struct AwaitedAs<Sender> {
  static auto of(Sender&& sender) {
    execution::StartedSender<Sender> started(std::forward<Sender>(sender), scheduler_here());
    started.run->start();
    return PromiseAwaiter<typename execution::SenderRun<Sender>::Value>(std::move(started.promise),
                                                                        true);
  }
};

}  // namespace HEIST_NAMESPACE::detail
