#include "claimed.hpp"

#include <heist/detail/listener.hpp>
#include <utility>

#include "dependent_signal.hpp"

namespace HEIST_NAMESPACE::detail {

void Claimed::operator()(Registration& registration) noexcept {
  if (!registration.ops->claim(registration)) return;
  switch (registration.ops->kind) {
    case Registration::Kind::task: {
      auto& of_task = static_cast<SignalLinks&>(registration);
      of_task.chain = std::exchange(tasks, &of_task);
      return;
    }
    case Registration::Kind::listener: {
      auto& listener = static_cast<Listener&>(registration);
      listener.dispatch_next = std::exchange(listeners, &listener);
      return;
    }
    case Registration::Kind::dependent: {
      auto& link = static_cast<SourceLink&>(registration);
      const bool is_late = reason != nullptr && !link.dependent.mark_aborted(*reason);
      if (reason != nullptr && !is_late) link.dependent.release_kept();
      link.chain = std::exchange(is_late ? links.aborted_before : links.dependents, &link);
      return;
    }
  }
}

SourceLink* ClaimedLinks::take_first(SourceLink*& list) noexcept {
  if (list == nullptr) return nullptr;
  return std::exchange(list, static_cast<SourceLink*>(list->chain));
}

}  // namespace HEIST_NAMESPACE::detail
