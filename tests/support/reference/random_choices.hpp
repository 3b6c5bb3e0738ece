// RandomChoices: makes the choices of a random scenario. A seed gives the same choices with every
// standard library.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace heist::reference {

class RandomChoices {
 public:
  explicit RandomChoices(std::uint64_t seed) : engine_(seed) {}

  /// Returns a number from 0 to count - 1. It uses no distribution of the standard library, because
  /// these differ between libraries.
  [[nodiscard]] std::size_t below(std::size_t count) { return engine_() % count; }
  [[nodiscard]] std::size_t between(std::size_t least, std::size_t most) {
    return least + below(most - least + 1);
  }
  [[nodiscard]] bool chance(std::size_t percent) { return below(100) < percent; }
  template <class Value>
  [[nodiscard]] const Value& one_of(const std::vector<Value>& values) {
    return values[below(values.size())];
  }
  /// Returns one of the first rather than one of the last, so that many steps concern the same
  /// thing.
  template <class Value>
  [[nodiscard]] const Value& early_of(const std::vector<Value>& values) {
    const std::size_t first = below(values.size());
    return values[std::min(first, below(values.size()))];
  }
  /// Returns each name as often as its weight says.
  [[nodiscard]] const std::string& one_of(const std::map<std::string, std::size_t>& weights) {
    std::size_t sum = 0;
    for (const auto& [name, weight] : weights) sum += weight;
    std::size_t place = below(sum);
    auto found = weights.begin();
    for (; place >= found->second; ++found) place -= found->second;
    return found->first;
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace heist::reference
