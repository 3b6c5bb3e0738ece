// RunningLabel: which task an agent runs, as far as it has a label or is timed as it runs.
#pragma once

#include <bit>
#include <cstdint>
#include <heist/detail/access.hpp>
#include <heist/detail/sync.hpp>
#include <heist/task_label.hpp>
#include <optional>
#include <source_location>

namespace HEIST_NAMESPACE::detail {

// Roles   agent: says what it runs.  looker: any thread, for dumps and the watchdog.
// I1      What the words point to lasts as long as the program (TaskLabel). So a looker may read
//         it, whatever the agent does meanwhile.
// I2      A looker reads `since` before and after the others, and believes them if it has not
//         changed. All is relaxed, as lookers only tell it to people. Where two tasks follow each
//         other within a look, a looker may see the one's label with the other's place.
// Progress  wait-free; a looker that finds a change sees nothing.
class RunningLabel {
 public:
  struct Seen {
    TaskLabel label;
    std::uint64_t since = 0;  ///< in the unit of the agent's MetricClock
  };

  // What only the agent calls.

  void say(const TaskLabel& label, std::uint64_t since) noexcept {
    text_.store(label.text(), sync::relaxed);                                   // relaxed: see I2.
    where_.store(std::bit_cast<std::uintptr_t>(label.where()), sync::relaxed);  // relaxed: see I2.
    since_.store(since, sync::relaxed);                                         // relaxed: see I2.
  }
  void end() noexcept { since_.store(0, sync::relaxed); }  // relaxed: see I2.

  // What any thread may call.

  /// Nothing when no such task runs.
  [[nodiscard]] std::optional<Seen> look() const noexcept {
    // relaxed, all: see I2.
    const std::uint64_t since = since_.load(sync::relaxed);
    const char* const text = text_.load(sync::relaxed);  // relaxed: see I2.
    const auto where =
        std::bit_cast<std::source_location>(where_.load(sync::relaxed));         // relaxed: see I2.
    if (since == 0 || since_.load(sync::relaxed) != since) return std::nullopt;  // relaxed: see I2.
    return Seen{Access::make<TaskLabel>(where, text), since};
  }

 private:
  sync::atomic<std::uint64_t> since_{0};  ///< zero: nothing is known of what runs
  sync::atomic<const char*> text_{nullptr};
  sync::atomic<std::uintptr_t> where_{0};
};

}  // namespace HEIST_NAMESPACE::detail
