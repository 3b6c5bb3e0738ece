// heist_models: explores the models of the shipped code.
#include <malloc.h>
#include <sys/single_threaded.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <heist/detail/sync.hpp>
#include <map>
#include <string>
#include <string_view>

#include "engine/engine.hpp"
#include "engine/model.hpp"

namespace {

using namespace heist::detail;
using namespace heist::model;

/// Of each model when bounds are small: enough for most to be explored whole.
constexpr std::uint64_t small_executions = 10'000;

struct Options {
  std::string only;
  std::string weaken;
  std::string replay;
  int bound = -2;
  std::uint64_t random = 0;
  std::uint64_t seed = 1;
  double seconds = 1e9;
  bool list = false;
  bool deeper = false;
  bool small = false;
  bool holding = false;
  bool freeze = false;
  bool must_fail = false;
  std::size_t share = 1;
  std::size_t shares = 1;
};

Plan plan_for(const Program& program, const Options& options) {
  Plan plan;
  plan.seconds = options.seconds;
  int bound = options.bound == -2 ? program.bound : options.bound;
  if (options.deeper) ++bound;
  if (options.small) {
    bound = std::min(bound < 0 ? 1 : bound, 1);
    plan.executions = small_executions;
  }
  plan.search.preemptions = bound < 0 ? std::nullopt : std::optional(bound);
  plan.search.seed = options.seed;
  if (options.random != 0) {
    plan.search.kind = Search::Kind::random;
    plan.executions = options.random;
  }
  if (!options.replay.empty()) {
    plan.search.kind = Search::Kind::replay;
    plan.search.trace = options.replay == "-" ? "" : options.replay;
    plan.prints_steps = true;
  }
  return plan;
}

void print_failure(const Program& program, const Options& options, const Outcome& outcome) {
  const std::string weaken = options.weaken.empty() ? "" : " --weaken " + options.weaken;
  std::printf("FAILED: %s\n  seen again with: heist_models --only %s%s --replay %s\n",
              outcome.failure->c_str(), std::string(program.name).c_str(), weaken.c_str(),
              outcome.trace.empty() ? "-" : outcome.trace.c_str());
}

/// In all executions; false when a promise is broken.
bool explore(const Program& program, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = Engine::instance().explore(program.body, plan_for(program, options));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("%-36s %9llu executions%s, longest %u steps, %.2f s%s\n",
              std::string(program.name).c_str(),
              static_cast<unsigned long long>(outcome.executions), outcome.complete ? " (all)" : "",
              outcome.longest, took.count(), outcome.failure ? "" : ": holds");
  if (outcome.failure) print_failure(program, options, outcome);
  return !outcome.failure;
}

/// What the others could do while one thread was frozen.
struct Progress {
  std::uint32_t places = 0;
  std::uint32_t others = 0;  ///< steps they took in all, at the most
};

/// What all places together came to.
struct Frozen {
  std::uint64_t executions = 0;
  std::uint32_t places = 0;
  std::uint32_t longest = 0;
  std::map<std::string_view, Progress> operations;

  void add(const Outcome& outcome) {
    ++places;
    executions += outcome.executions;
    longest = std::max(longest, outcome.longest);
    for (const auto& [name, others] : outcome.frozen_in) {
      Progress& progress = operations[name];
      ++progress.places;
      progress.others = std::max(progress.others, others);
    }
  }
};

void print_frozen(const Program& program, const Frozen& frozen) {
  std::printf("%-36s frozen at %u places, %llu executions: the others end within %u steps\n",
              std::string(program.name).c_str(), frozen.places,
              static_cast<unsigned long long>(frozen.executions), frozen.longest);
  for (const auto& [name, progress] : frozen.operations) {
    std::printf("  in %s: %u places, the others end within %u steps of their own\n",
                std::string(name).c_str(), progress.places, progress.others);
  }
}

/// With each thread frozen at each of its steps: the others come to their end. The freeze stands
/// for one preemption of the bound.
bool explore_frozen(const Program& program, const Options& options) {
  Frozen frozen;
  for (ThreadId thread = 0; thread < max_threads; ++thread) {
    for (Epoch step = 1;; ++step) {
      Plan plan = plan_for(program, options);
      plan.search.preemptions = std::clamp(plan.search.preemptions.value_or(2) - 1, 0, 1);
      plan.freeze = {thread, step};
      const Outcome outcome = Engine::instance().explore(program.body, plan);
      if (outcome.failure) {
        std::printf("thread %d frozen before its step %u: ", thread, step);
        print_failure(program, options, outcome);
        return false;
      }
      if (!outcome.froze) break;
      frozen.add(outcome);
    }
  }
  print_frozen(program, frozen);
  return true;
}

bool run(const Program& program, const Options& options) {
  if (options.list) {
    std::printf("%s\n", std::string(program.name).c_str());
    return true;
  }
  if (!options.freeze) return explore(program, options);
  return program.blocks || explore_frozen(program, options);
}

/// A naive_ model shows a mistake, a broken_ one a limit that is stated: neither holds.
bool must_fail(const Program& program) {
  return program.name.starts_with("naive_") || program.name.starts_with("broken_");
}

int run_all(int argc, char** argv) {
  CLI::App app("Explores the models of the shipped code.");
  Options options;
  app.add_option("--only", options.only, "only the model of this name");
  app.add_option("--weaken", options.weaken, "weaken this end of an edge");
  app.add_option("--replay", options.replay, "run one execution, and print its steps");
  app.add_option("--bound", options.bound, "preemptions at the most (else the model's own number)")
      ->check(CLI::Range(-1, 100));
  app.add_option("--random", options.random, "this many random executions instead of all");
  app.add_option("--seed", options.seed, "of the random executions");
  app.add_option("--seconds", options.seconds, "time for each model");
  app.add_flag("--list", options.list, "print the models' names");
  app.add_flag("--deeper", options.deeper, "one preemption more than each model's own bound");
  app.add_flag("--small", options.small, "one preemption and 10,000 executions at the most");
  app.add_flag("--holding", options.holding, "without the models that must fail");
  app.add_flag("--freeze", options.freeze, "freeze each thread at each step");
  app.add_flag("--must-fail", options.must_fail, "succeed if a model fails");
  app.add_option("--shares", options.shares, "explore one of so many shares of the models only")
      ->check(CLI::PositiveNumber);
  app.add_option("--share", options.share, "the number of that share, from 1")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  // std::shared_ptr counts without atomics as long as the C library knows of one thread only.
  __libc_single_threaded = 0;
  // Each execution makes chunks of nodes: not mapped anew, page by page.
  mallopt(M_MMAP_THRESHOLD, 1 << 25);  // NOLINT(concurrency-mt-unsafe): before all threads.
  mallopt(M_TRIM_THRESHOLD, 1 << 25);  // NOLINT(concurrency-mt-unsafe): as above.
  heist::detail::sync::weakening = heist::detail::sync::Weakening::named(options.weaken);
  bool all = true;
  std::size_t explored = 0;
  std::size_t chosen = 0;
  for (const Program& program : programs()) {
    if (!options.only.empty() && options.only != program.name) continue;
    if (options.holding && must_fail(program)) continue;
    if (chosen++ % options.shares + 1 != options.share) continue;
    ++explored;
    all &= run(program, options);
  }
  if (explored == 0) {
    std::fprintf(stderr, "heist_models: no model is called %s; see --list\n", options.only.c_str());
    return 2;
  }
  return all != options.must_fail ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_all(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heist_models: %s\n", error.what());
    return 2;
  }
}
