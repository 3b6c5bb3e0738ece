// check_priority: refuses a value that is no TaskPriority.
#pragma once

#include <heist/priority.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace HEIST_NAMESPACE::detail {

/// Errors: std::invalid_argument, which says what the value is for.
inline void check_priority(const std::optional<TaskPriority>& priority, const char* what) {
  if (priority && *priority > TaskPriority::user_blocking) [[unlikely]]
    throw std::invalid_argument(std::string(what) + " is not a TaskPriority");
}

}  // namespace HEIST_NAMESPACE::detail
