// TaskLabel: what a task is called in dumps, by the watchdog and in traces.
#pragma once

#include <heist/version.hpp>
#include <source_location>

namespace HEIST_NAMESPACE {

namespace detail {
struct Access;
}  // namespace detail

/// A text for people, and the place in the source where it stands: `{.label = "resize image"}`.
///
/// The text must be a literal, or another string that lasts as long as the program: the compiler
/// refuses any other. So whoever looks at a task from another thread may read it at any time, also
/// when the task has ended.
class TaskLabel {
 public:
  /// No label.
  constexpr TaskLabel() noexcept = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a text stands for its label.
  consteval TaskLabel(const char* text,
                      std::source_location where = std::source_location::current()) noexcept
      : text_(text), where_(where) {}

  /// Whether this is no label.
  [[nodiscard]] constexpr bool empty() const noexcept { return text_ == nullptr; }
  /// Null if there is none.
  [[nodiscard]] constexpr const char* text() const noexcept { return text_; }
  /// Where the label was written.
  [[nodiscard]] constexpr const std::source_location& where() const noexcept { return where_; }

 private:
  friend struct detail::Access;
  /// What another thread has read in two steps.
  constexpr TaskLabel(std::source_location where, const char* text) noexcept
      : text_(text), where_(where) {}

  const char* text_ = nullptr;
  std::source_location where_;
};

}  // namespace HEIST_NAMESPACE
