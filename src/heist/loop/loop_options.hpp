// Checks the options of a loop before it is made.
#pragma once

#include <heist/event_loop.hpp>

namespace HEIST_NAMESPACE::detail {

/// The options as a loop can use them: without a second CPU an agent does not look for work before
/// it sleeps, as nobody could post any meanwhile.
///
/// Errors: std::invalid_argument, which names the option and its bounds.
[[nodiscard]] EventLoopOptions checked_options(const EventLoopOptions& options);
/// `what` has been given as the number of tasks of which one is measured.
///
/// Errors: std::invalid_argument, which names it.
void check_sampling(std::uint32_t every, const char* what);

}  // namespace HEIST_NAMESPACE::detail
