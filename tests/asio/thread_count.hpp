// thread_count: how many threads this process has.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace heist::test {

inline std::ptrdiff_t thread_count() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

}  // namespace heist::test
