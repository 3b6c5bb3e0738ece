// The priorities by their bare names, as tests write them.
#pragma once

#include <array>
#include <heist/priority.hpp>

namespace heist::support {

inline constexpr TaskPriority background = TaskPriority::background;
inline constexpr TaskPriority user_visible = TaskPriority::user_visible;
inline constexpr TaskPriority user_blocking = TaskPriority::user_blocking;
inline constexpr std::array every_priority{background, user_visible, user_blocking};

}  // namespace heist::support
