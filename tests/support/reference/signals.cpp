#include "support/reference/signals.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace heist::reference {

namespace {

constexpr std::array names{"background", "user-visible", "user-blocking"};

void append_once(std::vector<Signal*>& set, Signal& signal) {
  if (std::ranges::find(set, &signal) == set.end()) set.push_back(&signal);
}

void depend(Signal& dependent, Signal& source) {
  append_once(dependent.source_signals, source);
  append_once(source.dependent_signals, dependent);
}

}  // namespace

Priority priority_named(const std::string& name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end()) throw std::invalid_argument("no priority: " + name);
  return static_cast<Priority>(found - names.begin());
}

std::string name_of(Priority priority) { return names.at(static_cast<std::size_t>(priority)); }

Signal& Signals::create_task_signal(Priority priority) {
  Signal& signal = create();
  signal.is_task_signal = true;
  signal.priority = priority;
  return signal;
}

Signal& Signals::create_fixed_priority_unabortable(Priority priority) { return any({}, priority); }

Signal& Signals::any(const std::vector<Signal*>& signals) {
  Signal& result = create();
  for (const Signal* signal : signals) {
    if (!signal->aborted()) continue;
    result.abort_reason = signal->abort_reason;
    return result;
  }
  result.is_dependent = true;
  for (Signal* signal : signals) {
    if (!signal->is_dependent) depend(result, *signal);
    // A dependent of a dependent signal depends on that one's sources, so there are no chains.
    for (Signal* source : signal->source_signals) depend(result, *source);
  }
  return result;
}

Signal& Signals::any(const std::vector<Signal*>& signals, Priority priority) {
  Signal& result = any(signals);
  result.is_task_signal = true;
  result.is_priority_dependent = true;
  result.priority = priority;
  return result;
}

Signal& Signals::any(const std::vector<Signal*>& signals, Signal& priority_source) {
  Signal& result = any(signals, priority_source.priority);
  if (priority_source.has_fixed_priority()) return result;
  Signal* const root =
      priority_source.is_priority_dependent ? priority_source.priority_source : &priority_source;
  result.priority_source = root;
  root->priority_dependents.push_back(&result);
  return result;
}

void Signals::signal_abort(Signal& signal, const Json& reason) {
  if (signal.aborted()) return;
  signal.abort_reason = reason;
  std::vector<Signal*> to_abort;
  for (Signal* dependent : signal.dependent_signals) {
    if (dependent->aborted()) continue;
    dependent->abort_reason = reason;
    to_abort.push_back(dependent);
  }
  run_abort_steps(signal);
  for (Signal* dependent : to_abort) run_abort_steps(*dependent);
}

void Signals::run_abort_steps(Signal& signal) {
  for (const auto& algorithm : std::exchange(signal.abort_algorithms, {})) algorithm.run();
  fire(signal.abort_listeners, {});
}

bool Signals::signal_priority_change(Signal& signal, Priority priority) {
  if (signal.is_priority_changing) return false;
  if (signal.priority == priority) return true;
  signal.is_priority_changing = true;
  const Priority previous = std::exchange(signal.priority, priority);
  for (const auto& algorithm : signal.priority_change_algorithms) algorithm();
  fire(signal.priority_listeners, previous);
  // The loop goes by index, because a listener may create further dependents. These have the new
  // priority already.
  for (std::size_t i = 0; i < signal.priority_dependents.size(); ++i) {
    static_cast<void>(signal_priority_change(*signal.priority_dependents[i], priority));
  }
  signal.is_priority_changing = false;
  return true;
}

/// DOM: inner invoke. A listener that is added meanwhile does not hear this event, so the list is
/// copied.
void Signals::fire(Signal::Listeners& listeners, Priority previous) {
  const Signal::Listeners heard = listeners;
  for (const auto& listener : heard) {
    if (listener->is_removed) continue;
    if (listener->is_once) {
      listener->is_removed = true;
      std::erase(listeners, listener);
    }
    agent_.invoke([&] { listener->callback(previous); });
  }
}

}  // namespace heist::reference
