#include <re2/re2.h>
#include <re2/set.h>

#include <heistd/job_result.hpp>
#include <heistd/limits.hpp>
#include <heistd/line_pattern.hpp>
#include <utility>

namespace heistd {
namespace {

RE2::Options regex_options() {
  RE2::Options options;
  options.set_max_mem(static_cast<std::int64_t>(LinePattern::max_memory));
  options.set_log_errors(false);
  options.set_never_capture(true);
  return options;
}

}  // namespace

/// A set of one: RE2::Set is the interface that has no slow path.
struct LinePattern::Automaton {
  RE2::Set set{regex_options(), RE2::UNANCHORED};
};

LinePattern::LinePattern(std::unique_ptr<Automaton> automaton) noexcept
    : automaton_(std::move(automaton)) {}

LinePattern::~LinePattern() = default;

LinePattern::Compiled LinePattern::compile(std::string_view pattern) {
  if (pattern.size() > max_pattern_bytes) {
    return "the pattern is longer than " + std::to_string(max_pattern_bytes) + " bytes";
  }
  auto automaton = std::make_unique<Automaton>();
  std::string error;
  if (automaton->set.Add({pattern.data(), pattern.size()}, &error) < 0) return error;
  if (!automaton->set.Compile()) return "the pattern needs too much memory";
  return std::shared_ptr<const LinePattern>(new LinePattern(std::move(automaton)));
}

bool LinePattern::matches(std::string_view line) const {
  RE2::Set::ErrorInfo error{};
  const bool matched = automaton_->set.Match({line.data(), line.size()}, nullptr, &error);
  if (error.kind == RE2::Set::kNoError) return matched;
  throw JobFailure("pattern_too_costly",
                   "matching this pattern on these lines needs too much memory");
}

}  // namespace heistd
