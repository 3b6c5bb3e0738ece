// The buckets of a log-linear histogram: eight of equal width between any two powers of two.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail::log_linear {

/// The smallest power of two that has buckets of its own; all below it share one.
inline constexpr unsigned first_bits = 5;
inline constexpr unsigned bits_within = 3;  ///< of a bucket's number within a power of two
inline constexpr unsigned last_bits = 41;   ///< all values of more bits share the last bucket
inline constexpr std::size_t bucket_count =
    1 + (static_cast<std::size_t>(last_bits - first_bits + 1) << bits_within);

/// The number of the bucket that a value belongs to. No bucket but the first and the last is wider
/// than an eighth of its values.
[[nodiscard]] constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
  if (value >> first_bits == 0) return 0;
  const auto bits = static_cast<unsigned>(std::bit_width(value)) - 1;
  if (bits > last_bits) return bucket_count - 1;
  const std::uint64_t within = value >> (bits - bits_within) & ((1U << bits_within) - 1);
  return 1 + (static_cast<std::size_t>(bits - first_bits) << bits_within) + within;
}

/// The smallest value of a bucket. That of the bucket behind is the first value beyond it.
[[nodiscard]] constexpr std::uint64_t start_of(std::size_t bucket) noexcept {
  if (bucket == 0) return 0;
  const auto bits = first_bits + static_cast<unsigned>((bucket - 1) >> bits_within);
  const std::uint64_t within = (bucket - 1) & ((1U << bits_within) - 1);
  return (std::uint64_t{1} << bits) + (within << (bits - bits_within));
}

}  // namespace HEIST_NAMESPACE::detail::log_linear
