#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <charconv>
#include <heistd/builtin/line_pattern.hpp>
#include <heistd/job_failure.hpp>
#include <heistd/limits.hpp>
#include <heistd/memory_reserve.hpp>
#include <utility>

namespace heistd {
namespace {

/// How often RE2 emptied a full automaton while this thread matched.
thread_local std::uint64_t lost_automata = 0;

void count_lost(const re2::hooks::DFAStateCacheReset& /*its size*/) { ++lost_automata; }

RE2::Options regex_options(std::size_t memory) {
  RE2::Options options;
  options.set_max_mem(static_cast<std::int64_t>(memory));
  options.set_log_errors(false);
  options.set_never_capture(true);
  return options;
}

/// What makes compiling costly, counted without reading the pattern's grammar: rather too much than
/// too little.
struct Costs {
  std::size_t unicode_classes = 0;
  std::size_t repetitions = 0;
};

/// Adds the larger one of the numbers at the beginning of the text: `3}`, `3,}` or `3,5}`.
void add_repetition(std::string_view text, Costs& costs) {
  std::size_t larger = 0;
  for (;;) {
    std::size_t number = 0;
    const auto* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc::result_out_of_range) number = LinePattern::max_repetitions + 1;
    larger = std::max(larger, number);
    if (stop == end || *stop != ',') break;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  }
  costs.repetitions += larger;
}

Costs costs_of(std::string_view pattern) {
  Costs costs;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{') add_repetition(pattern.substr(i + 1), costs);
    if (pattern[i] != '\\' || i + 1 == pattern.size()) continue;
    ++i;
    if (pattern[i] == 'p' || pattern[i] == 'P') ++costs.unicode_classes;
  }
  return costs;
}

/// Why the pattern is not even given to RE2; empty when it is.
std::string refusal_of(std::string_view pattern) {
  if (pattern.size() > max_pattern_bytes) {
    return "the pattern is longer than " + std::to_string(max_pattern_bytes) + " bytes";
  }
  const auto costs = costs_of(pattern);
  if (costs.unicode_classes > LinePattern::max_unicode_classes) {
    return "the pattern has more than " + std::to_string(LinePattern::max_unicode_classes) +
           " Unicode classes (\\p, \\P)";
  }
  if (costs.repetitions > LinePattern::max_repetitions) {
    return "the numbers of the pattern's repetitions add up to more than " +
           std::to_string(LinePattern::max_repetitions);
  }
  return {};
}

std::size_t portion_for(std::size_t program_size) noexcept {
  const auto each_byte = LinePattern::byte_time + program_size * LinePattern::instruction_time;
  return static_cast<std::size_t>(LinePattern::portion_time / each_byte);
}

}  // namespace

/// A set of one: RE2::Set is the interface that has no slow path.
struct LinePattern::Automaton {
  RE2::Set set{regex_options(LinePattern::max_memory), RE2::UNANCHORED};
};

LinePattern::Checked LinePattern::check(std::string_view pattern) {
  if (auto refusal = refusal_of(pattern); !refusal.empty()) return refusal;
  return MemoryReserve::guard([pattern]() -> Checked {
    // By itself: a set does not tell the size of its program, and has no bound of its own for it.
    const RE2 alone({pattern.data(), pattern.size()}, regex_options(max_program_memory));
    if (alone.error_code() == RE2::ErrorPatternTooLarge)
      return "the pattern's program is too large";
    if (!alone.ok()) return alone.error();
    return static_cast<std::size_t>(alone.ProgramSize());
  });
}

LinePattern::LinePattern(std::string_view pattern, std::size_t program_size)
    : automaton_(MemoryReserve::guard([] { return std::make_unique<Automaton>(); })),
      portion_bytes_(portion_for(program_size)) {
  re2::hooks::SetDFAStateCacheResetHook(&count_lost);  // the same one each time
  const bool compiled = MemoryReserve::guard([this, pattern] {
    auto& set = automaton_->set;
    return set.Add({pattern.data(), pattern.size()}, nullptr) >= 0 && set.Compile();
  });
  if (compiled) return;
  throw JobFailure("pattern_too_costly", "matching this pattern needs too much memory");
}

LinePattern::~LinePattern() = default;

std::optional<bool> LinePattern::match(std::string_view line) {
  const auto end = std::min(line.size(), built_ + portion_bytes_);
  const auto lost_before = lost_automata;
  RE2::Set::ErrorInfo error{};
  const bool matched = MemoryReserve::guard(
      [&] { return automaton_->set.Match({line.data(), end}, nullptr, &error); });
  if (error.kind != RE2::Set::kNoError) {
    throw JobFailure("pattern_too_costly", "matching this pattern needs too much memory");
  }
  if (end < line.size()) {
    // What a beginning says means nothing: the line may go on differently where the pattern asks
    // for its end.
    go_on_behind(end, lost_automata != lost_before);
    return std::nullopt;
  }
  forget_line();
  return matched;
}

void LinePattern::go_on_behind(std::size_t end, bool states_were_lost) {
  if (!states_were_lost) {
    built_ = end;
    return;
  }
  // The memory may have been full of other lines' states: this line has it alone now.
  if (std::exchange(lost_states_once_, true)) {
    throw JobFailure("pattern_too_costly",
                     "a line is too long for this pattern, whose automaton outgrows its memory "
                     "there: shorter lines or a simpler pattern are needed");
  }
  built_ = 0;
}

void LinePattern::forget_line() noexcept {
  built_ = 0;
  lost_states_once_ = false;
}

}  // namespace heistd
