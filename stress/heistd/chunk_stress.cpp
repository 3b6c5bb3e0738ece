// Jobs made to be slow: patterns and lines that RE2 builds many states for, bytes that are hard to
// compress.
//
// I1  No chunk of a job takes more than 5 ms of its thread's processor time, nor does the check of
//     a pattern, nor freeing what a job holds (ADR 0027). Not asserted with sanitizers, which make
//     everything slower; the longest is printed.
// I2  Each search ends: with a result, or with one of the failures that are documented.
#include <time.h>

#include <algorithm>
#include <array>
#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/builtin/line_pattern.hpp>
#include <heistd/limits.hpp>
#include <string>
#include <string_view>

#include "../support/stress_run.hpp"

namespace {

using namespace heist::stress;
using namespace heistd;

constexpr std::chrono::milliseconds bound{5};
#if defined(HEIST_SANITIZER_ADDRESS) || defined(HEIST_SANITIZER_THREAD)
constexpr bool asserts_time = false;
#else
constexpr bool asserts_time = true;
#endif

/// What other programs do meanwhile does not count.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  check(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0, "no clock of the thread's time");
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// The longest call of one kind.
struct Longest {
  const char* name;
  std::chrono::nanoseconds time{};
  std::string of{};

  template <class Call>
  auto measure(std::string_view what, Call&& call) {
    struct AtEnd {
      ~AtEnd() { longest.add(processor_time() - start, what); }
      Longest& longest;
      std::string_view what;
      std::chrono::nanoseconds start = processor_time();
    } const at_end{*this, what};
    return call();
  }
  void add(std::chrono::nanoseconds took, std::string_view what) {
    if (took <= time) return;
    time = took;
    of = what.substr(0, 80);
  }
  void report() const {
    std::printf("%-8s at most %8.1f us: %s\n", name, static_cast<double>(time.count()) / 1000,
                of.c_str());
    check(!asserts_time || time <= bound, "I1: something took too long");
  }
};

constexpr std::array<std::string_view, 46> parts = {"a",
                                                    "b",
                                                    "[ab]",
                                                    "[ab]",
                                                    ".",
                                                    "\\pL",
                                                    "\\PL",
                                                    "\\pN",
                                                    "(?i)",
                                                    "(",
                                                    "(?:",
                                                    ")",
                                                    "|",
                                                    "*",
                                                    "+",
                                                    "?",
                                                    "{2}",
                                                    "{10}",
                                                    "{100}",
                                                    "{900}",
                                                    "{0,30}",
                                                    "{1,30}",
                                                    "{5,}",
                                                    "[^a]",
                                                    "[\\x{80}-\\x{10ffff}]",
                                                    "\\w",
                                                    "\\W",
                                                    "\\d",
                                                    "^",
                                                    "$",
                                                    "\\b",
                                                    "\\B",
                                                    "\\z",
                                                    "[[:^alpha:]]",
                                                    "[a-zA-Z0-9]",
                                                    "(?s).",
                                                    "\\C",
                                                    "\\Qab\\E",
                                                    "a{0,30}",
                                                    "|a{0,30}",
                                                    "[ab]{300}",
                                                    "c",
                                                    "a[ab]{900}c",
                                                    "(a|b|ab|ba)",
                                                    "-{1000}",
                                                    "\xc3\xa9"};

/// A few parts once, or over and over again.
std::string random_pattern(Random& random) {
  std::array<std::string_view, 6> chosen{};
  std::ranges::generate(chosen, [&] { return parts[random.below(parts.size())]; });
  const auto kinds = 1 + random.below(chosen.size());
  const auto most = random.one_in(3) ? max_pattern_bytes : 1 + random.below(100);
  std::string pattern;
  for (std::size_t i = 0; pattern.size() + chosen[i % kinds].size() <= most; ++i) {
    pattern += chosen[i % kinds];
  }
  return pattern;
}

std::string random_bytes(Random& random, std::size_t count) {
  static constexpr std::array<std::string_view, 4> alphabets = {"ab", "ab-", "abc 019\xc3\xa9", ""};
  const auto letters = alphabets[random.below(alphabets.size())];
  std::string bytes(count, '\0');
  std::ranges::generate(bytes, [&] {
    return letters.empty() ? static_cast<char>(random()) : letters[random.below(letters.size())];
  });
  return bytes;
}

/// Blocks of lines, most of them as long as lines may be.
Blocks random_body(Random& random, std::size_t blocks) {
  Blocks body;
  while (blocks-- > 0) {
    auto block = random_bytes(random, block_bytes);
    for (std::size_t end = max_line_bytes; end < block.size();) {
      block[end] = '\n';
      end += 1 + (random.one_in(2) ? max_line_bytes : random.below(3000));
    }
    block.back() = '\n';
    body.push_back(std::move(block));
  }
  return body;
}

class ChunkStress {
 public:
  /// What random patterns and lines seldom come to.
  void begin(Random& random) {
    // It needs a state for each byte, and is given up.
    search_line(random, "ab", "a[ab]{900}c", max_line_bytes, max_line_bytes);
    // It matches at its end, behind a portion that is all new states; each of its bytes is written
    // as six, and all just fit.
    const std::string pattern = R"(\x01[\x01\x02]{306}$|\x02[\x01\x02]{204}$|[\x01\x02]$)";
    const auto program = std::get<std::size_t>(LinePattern::check(pattern));
    const auto portion = static_cast<std::size_t>(
        LinePattern::portion_time /
        (LinePattern::byte_time + program * LinePattern::instruction_time));
    search_line(random, "\x01\x02", pattern, max_matched_bytes / 6 / portion * portion, portion);
  }
  void round(Random& random) {
    const auto pattern = random_pattern(random);
    const auto good = checks_.measure(
        pattern, [&] { return std::holds_alternative<std::size_t>(LinePattern::check(pattern)); });
    if (good) run(searches_, make_search_work(random_body(random, 1), pattern), pattern);
    if (!random.one_in(8)) return;
    run(compressions_, make_compress_work(random_body(random, 1 + random.below(20))),
        "random bytes");
    run(digests_, make_digest_work(random_body(random, 1 + random.below(4))), "random bytes");
    auto dropped = make_digest_work(random_body(random, 16 * mib / block_bytes));
    frees_.measure("16 MiB", [&] { dropped.reset(); });
  }

  void report() const {
    for (const auto* longest : {&checks_, &searches_, &compressions_, &digests_, &frees_}) {
      longest->report();
    }
    std::printf("searches: %llu done, %llu too costly\n", printable(done_), printable(costly_));
    check(done_ > 0 && costly_ > 0, "one outcome of searching was never seen");
  }

 private:
  /// A line of the first letter, of which the last `noise` ones are any, behind lines that cost
  /// nothing.
  void search_line(Random& random, std::string_view letters, std::string_view pattern,
                   std::size_t size, std::size_t noise) {
    std::string line(size, letters[0]);
    std::generate(line.end() - static_cast<std::ptrdiff_t>(noise), line.end(),
                  [&] { return letters[random.below(letters.size())]; });
    const auto lines = std::string(20'000, '\n') + line + '\n';
    run(searches_, make_search_work(Blocks{lines}, std::string(pattern)), pattern);
  }
  void run(Longest& longest, std::unique_ptr<JobWork> work, std::string_view what) {
    // Patterns that need a state for each byte make progress of some bytes a step: not to the end
    // each time.
    constexpr std::chrono::seconds patience{1};
    const auto end = processor_time() + patience;
    try {
      bool over = false;
      while (!over && processor_time() < end) {
        over = longest.measure(what, [&] {
          if (!work->step(chunk_budget)) return false;
          static_cast<void>(work->take_result());
          return true;
        });
      }
      if (over) ++done_;
    } catch (const JobFailure& failure) {
      check(failure.code() == "pattern_too_costly", "I2: a search failed in another way");
      ++costly_;
    }
    longest.measure(what, [&] { work.reset(); });
  }

  Longest checks_{"check"};
  Longest searches_{"search"};
  Longest compressions_{"compress"};
  Longest digests_{"digest"};
  Longest frees_{"free"};
  std::uint64_t done_ = 0;
  std::uint64_t costly_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("heistd_chunk_stress", {argv, static_cast<std::size_t>(argc)});
  ChunkStress stress;
  Random first(seed_of_run);
  stress.begin(first);
  const auto rounds = run_rounds(options, [&](Random& random) { stress.round(random); });
  std::printf("rounds %llu\n", printable(rounds));
  stress.report();
}
