#include "scenarios/replay/difference.hpp"

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <sstream>

namespace heist::test {

namespace {

using Json = nlohmann::json;

constexpr std::size_t events_around = 3;

std::string event_at(const Json& trace, std::size_t place) {
  return place < trace.size() ? trace[place].dump() : "(end)";
}

/// By value: 5 is 5.0.
bool are_equal_at(const Json& expected, const Json& actual, std::size_t place) {
  return place < expected.size() && place < actual.size() && expected[place] == actual[place];
}

/// The events from the first place to before the last one.
struct Window {
  std::size_t first;
  std::size_t last;
};

/// One column is as wide as the widest event in it.
int width_of(const Json& trace, Window window) {
  std::size_t width = std::string("expected").size();
  for (auto i = window.first; i < window.last; ++i)
    width = std::max(width, event_at(trace, i).size());
  return static_cast<int>(width);
}

}  // namespace

std::string difference(const Json& expected, const Json& actual) {
  if (expected == actual) return {};
  std::size_t place = 0;
  while (are_equal_at(expected, actual, place)) ++place;
  const auto longer = std::max(expected.size(), actual.size());
  const Window window{place - std::min(place, events_around),
                      std::min(longer, place + events_around + 1)};
  const int width = width_of(expected, window);
  std::ostringstream text;
  text << std::left << "  event  " << std::setw(width) << "expected"
       << "  actual\n";
  for (auto i = window.first; i < window.last; ++i) {
    text << (i == place ? "> " : "  ") << std::setw(5) << i << "  " << std::setw(width)
         << event_at(expected, i) << "  " << event_at(actual, i) << '\n';
  }
  return text.str();
}

}  // namespace heist::test
