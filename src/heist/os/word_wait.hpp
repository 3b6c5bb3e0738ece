// Threads sleep on a word here, and others wake them. This file and the atomics
// (heist/detail/sync.hpp) are the seam at which a model-checking build takes over.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <optional>

namespace HEIST_NAMESPACE::detail {

/// Blocks until the word differs from `expected`, somebody wakes the word, or the deadline has
/// come.
void wait_on_word(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::optional<std::chrono::steady_clock::time_point> deadline) noexcept;
/// Wakes one thread that waits on the word.   Cost: one system call.
void wake_word(sync::atomic<std::uint32_t>& word) noexcept;

/// Wakes all threads that wait on the word.   Cost: one system call.
void wake_all_on_word(sync::atomic<std::uint32_t>& word) noexcept;

}  // namespace HEIST_NAMESPACE::detail
