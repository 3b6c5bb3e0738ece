// What all stress programs share: options, checks, the seed, and rounds until the time is up.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string_view>
#include <thread>

namespace heist::stress {

/// A small generator of random numbers. Each thread has one, so that a seed names one set of random
/// choices.
class Random {
 public:
  using result_type = std::uint64_t;
  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return UINT64_MAX; }

  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t operator()() noexcept {
    std::uint64_t mixed = (state_ += 0x9e3779b97f4a7c15U);
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }
  /// Returns a number from 0 to bound - 1.
  std::uint64_t below(std::uint64_t bound) noexcept { return (*this)() % bound; }
  bool one_in(std::uint64_t n) noexcept { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

inline std::uint64_t seed_of_run = 0;

/// Ends the program when a promise of the runtime is broken.
inline void check(bool holds, const char* what) {
  if (holds) [[likely]]
    return;
  std::fflush(stdout);
  std::fprintf(stderr, "FAILED: %s (seed %llu)\n", what,
               static_cast<unsigned long long>(seed_of_run));
  std::_Exit(1);
}

/// Wastes a random time, or gives up the processor, so that races move to other places.
inline void dither(Random& random) {
  const auto choice = random.below(8);
  if (choice == 0) {
    std::this_thread::yield();
  } else if (choice < 4) {
    const volatile auto steps = random.below(200);
    for (std::uint64_t i = 0; i < steps; ++i) {
    }
  }
}

/// After this time a condition is taken for one that never holds. A decoy, which breaks it on
/// purpose, has less.
#if defined(HEIST_STRESS_PATIENCE)
inline constexpr std::chrono::seconds patience{HEIST_STRESS_PATIENCE};
#else
inline constexpr std::chrono::seconds patience{60};
#endif

/// Waits for a condition that another thread brings about. Returns false when it gives up.
template <std::predicate Condition>
bool comes_true(Condition&& condition) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (std::uint32_t turn = 1; !condition(); ++turn) {
    std::this_thread::yield();
    if (turn % 4096 == 0 && std::chrono::steady_clock::now() >= end) return false;
  }
  return true;
}
/// Does the same, but ends the program with a message when it gives up.
template <std::predicate Condition>
void await(Condition&& condition, const char* what) {
  check(comes_true(condition), what);
}

struct StressOptions {
  std::chrono::seconds duration{2};
  std::uint64_t seed = 1;
};

/// One more option of a program, with a value.
struct MoreOption {
  std::string_view name;
  std::string_view* value;
};

inline void print_usage(std::string_view program, std::initializer_list<MoreOption> more) {
  std::fprintf(stderr, "usage: %.*s [--seconds N] [--seed N]", static_cast<int>(program.size()),
               program.data());
  for (const MoreOption& option : more) {
    std::fprintf(stderr, " [%.*s VALUE]", static_cast<int>(option.name.size()), option.name.data());
  }
  std::fputc('\n', stderr);
}

/// Reads `--seconds N --seed N`, and the program's other options. Without a seed the clock gives
/// one. The seed is printed.
inline StressOptions parse(std::string_view program, std::span<char*> arguments,
                           std::initializer_list<MoreOption> more = {}) {
  StressOptions options{
      .seed = static_cast<std::uint64_t>(
          std::chrono::system_clock::now().time_since_epoch().count() / 1000 % 1'000'000'000)};
  for (std::size_t i = 1; i < arguments.size(); i += 2) {
    const std::string_view name = arguments[i];
    char* end = nullptr;
    const std::uint64_t value =
        i + 1 < arguments.size() ? std::strtoull(arguments[i + 1], &end, 10) : 0;
    const bool is_number = end != nullptr && end != arguments[i + 1] && *end == '\0';
    if (name == "--seconds" && is_number) {
      options.duration = std::chrono::seconds(value);
    } else if (name == "--seed" && is_number) {
      options.seed = value;
    } else if (const auto* other = std::ranges::find(more, name, &MoreOption::name);
               other != more.end() && i + 1 < arguments.size()) {
      *other->value = arguments[i + 1];
    } else {
      print_usage(program, more);
      std::exit(2);  // NOLINT(concurrency-mt-unsafe): no other thread yet.
    }
  }
  seed_of_run = options.seed;
  std::printf("%.*s: seed %llu\n", static_cast<int>(program.size()), program.data(),
              static_cast<unsigned long long>(options.seed));
  std::fflush(stdout);
  return options;
}

/// Returns the value of an option that wants a number.
inline std::uint64_t number_of(std::string_view option, std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  std::fprintf(stderr, "%.*s wants a number\n", static_cast<int>(option.size()), option.data());
  std::exit(2);  // NOLINT(concurrency-mt-unsafe): no other thread yet.
}

/// Calls `round(Random&)` until the time is up, at least once, and says now and then how far it is.
/// Then it goes on until `is_enough()`, but at most for `patience`, because a machine that has
/// little time for this may not come to every outcome in a short run. Returns the number of rounds.
template <std::invocable<Random&> Round, std::predicate Enough>
std::uint64_t run_rounds(const StressOptions& options, Round&& round, Enough&& is_enough) {
  constexpr std::chrono::seconds between_messages{20};
  Random random(options.seed);
  const auto start = std::chrono::steady_clock::now();
  auto next_message = start + between_messages;
  const auto goes_on = [&](std::chrono::steady_clock::duration for_so_long) {
    if (for_so_long < options.duration) return true;
    return options.duration.count() > 0 && for_so_long < options.duration + patience &&
           !is_enough();
  };
  std::uint64_t rounds = 0;
  for (auto now = start; rounds == 0 || goes_on(now - start);
       now = std::chrono::steady_clock::now()) {
    round(random);
    ++rounds;
    if (now < next_message) continue;
    next_message += between_messages;
    std::printf("%lld of %lld seconds, %llu rounds\n",
                static_cast<long long>(
                    std::chrono::duration_cast<std::chrono::seconds>(now - start).count()),
                static_cast<long long>(options.duration.count()),
                static_cast<unsigned long long>(rounds));
    std::fflush(stdout);
  }
  return rounds;
}

/// Does the same, but stops when the time is up.
template <std::invocable<Random&> Round>
std::uint64_t run_rounds(const StressOptions& options, Round&& round) {
  return run_rounds(options, round, [] { return true; });
}

inline unsigned long long printable(std::uint64_t count) { return count; }

}  // namespace heist::stress
