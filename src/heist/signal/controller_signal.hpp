// ControllerSignal: the signal of a TaskController.
#pragma once

#include <heist/priority.hpp>

#include "signal_core.hpp"
#include "signal_priority.hpp"

namespace HEIST_NAMESPACE::detail {

/// A root whose priority its controller changes.
class ControllerSignal final : public SignalCore {
 public:
  explicit ControllerSignal(TaskPriority first) noexcept
      : SignalCore(SignalForm::controller, PriorityKind::own, sizeof(SignalCore)),
        own_(PriorityKind::own, first) {
    static_assert(sizeof(ControllerSignal) == sizeof(SignalCore) + sizeof(SignalPriority));
  }

 private:
  SignalPriority own_;
};

}  // namespace HEIST_NAMESPACE::detail
