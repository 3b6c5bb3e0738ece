#include "describe.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace HEIST_NAMESPACE::detail {

namespace {

/// The path's last part, as the folder before it says little and is long.
std::string_view file_of(const TaskLabel& label) {
  const std::string_view path = label.where().file_name();
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string describe(std::chrono::nanoseconds time) {
  constexpr std::array<std::string_view, 3> units{" ns", " us", " ms"};
  std::int64_t value = time.count();
  for (const std::string_view unit : units) {
    if (value < 1000) return std::to_string(value) + std::string(unit);
    value /= 1000;
  }
  return std::to_string(value) + " s";
}

std::string describe(const TaskLabel& label) {
  if (label.empty()) return "a task without a label";
  return "task \"" + std::string(label.text()) + "\" (" + std::string(file_of(label)) + ":" +
         std::to_string(label.where().line()) + ")";
}

std::string describe(const RunningMetrics& running) {
  std::string text = describe(running.label);
  if (running.running_for) text += " for " + describe(*running.running_for);
  return text;
}

}  // namespace HEIST_NAMESPACE::detail
