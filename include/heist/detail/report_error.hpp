// Hands errors that no promise carries to the hook.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/error.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Counts an error and hands it to the hook.
HEIST_EXPORT void report_error(ErrorOrigin origin, const Reason& reason) noexcept;
/// Calls the callback, and reports what it throws. When it reports, no handler holds the exception
/// any more, only the reason does.
template <class Callback>
void invoke_and_report(Callback& callback, ErrorOrigin origin) noexcept {
  Reason thrown;
  try {
    callback();
    return;
  } catch (...) {
    thrown = Reason::of_current_exception();
  }
  report_error(origin, Reason(std::move(thrown)));  // moved: `thrown` stays in a register
}

}  // namespace HEIST_NAMESPACE::detail
