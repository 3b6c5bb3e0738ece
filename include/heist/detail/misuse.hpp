// Refuses calls through a moved-from handle, and calls that are given nothing to call.
#pragma once

#include <cstddef>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>
#include <type_traits>

namespace HEIST_NAMESPACE::detail {

/// For a call through a handle that was moved from.   Errors: std::invalid_argument, always; it
/// names the call.
[[noreturn]] HEIST_EXPORT void refuse_moved_from(const char* call);
/// For a result that is asked for where none is.   Errors: as above.
[[noreturn]] HEIST_EXPORT void refuse_no_result(const char* call);
/// For a call that was given a null pointer, or an empty function object.   Errors: as above.
[[noreturn]] HEIST_EXPORT void refuse_nothing(const char* call);

/// Whether the callback is a null pointer, or an empty std::function or similar.
template <class Callback>
[[nodiscard]] bool is_nothing(const Callback& callback) noexcept {
  using Held = std::decay_t<Callback>;
  constexpr bool may_be_nothing =
      !std::is_function_v<Callback> &&
      (std::is_pointer_v<Held> || (std::is_constructible_v<Held, std::nullptr_t> &&
                                   std::is_constructible_v<bool, const Held&>));
  if constexpr (may_be_nothing) return !static_cast<bool>(callback);
  return false;
}

/// Errors: std::invalid_argument when there is nothing to call.   Cost: none for types that can not
///         be empty.
template <class Callback>
void check_callback(const Callback& callback, const char* call) {
  if (is_nothing(callback)) [[unlikely]]
    refuse_nothing(call);
}

}  // namespace HEIST_NAMESPACE::detail
