// Reads numbers that the environment may give.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>

namespace heist::test {

inline std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing sets it
  return text == nullptr ? otherwise : std::stoull(text);
}

}  // namespace heist::test
