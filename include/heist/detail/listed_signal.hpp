// ListedSignal: an element of a list of signals. It refuses signals whose priority would be lost.
#pragma once

#include <concepts>
#include <heist/detail/forward.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// An element of a list for `any` without a priority. A TaskSignal in such a list does not compile,
/// because its priority would be lost unnoticed.
///
/// Lifetime: as long as the signal it was made from.
class ListedSignal {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): so that lists are written as lists of signals.
  ListedSignal(const AbortSignal& signal) noexcept : signal_(&signal) {}
  // NOLINTNEXTLINE(google-explicit-constructor): as above.
  ListedSignal(AbortSignal&& signal) noexcept : signal_(&signal), temporary_(&signal) {}
  template <std::derived_from<AbortSignal> Signal>
    requires(!std::same_as<Signal, AbortSignal>)
  ListedSignal(const Signal& signal) noexcept : signal_(&signal) {  // NOLINT: as above.
    static_assert(!std::derived_from<Signal, AbortSignal>,
                  "the priority of a TaskSignal in the list would be lost: write "
                  "TaskSignal::any(list, priority), with that signal or a value as the priority; "
                  "AbortSignal(signal) in the list says that only its abort is meant");
  }
  // NOLINTNEXTLINE(google-explicit-constructor): as above.
  operator const AbortSignal&() const noexcept { return *signal_; }

  /// The signal as a handle that may be moved from, or null when it has to stay.
  [[nodiscard]] AbortSignal* temporary() const noexcept { return temporary_; }

 private:
  const AbortSignal* signal_;
  AbortSignal* temporary_ = nullptr;
};

}  // namespace HEIST_NAMESPACE::detail
