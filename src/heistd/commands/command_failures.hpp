// CommandFailures: how often programs of a kind did not start, or were killed for a limit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>

namespace heistd {

/// Thread: any.
class CommandFailures {
 public:
  enum class Why : std::uint8_t {
    not_started,
    timeout,  ///< killed as it took too long
    output,   ///< killed as it wrote too much
  };
  static constexpr std::array all = {Why::not_started, Why::timeout, Why::output};

  // relaxed, here and below: the counts guard nothing.
  void note(Why why) noexcept { of_[place(why)].fetch_add(1, heist::detail::sync::relaxed); }
  [[nodiscard]] std::uint64_t of(Why why) const noexcept {
    return of_[place(why)].load(heist::detail::sync::relaxed);
  }

 private:
  static constexpr std::size_t place(Why why) noexcept { return static_cast<std::size_t>(why); }

  std::array<heist::detail::sync::atomic<std::uint64_t>, all.size()> of_{};
};

}  // namespace heistd
