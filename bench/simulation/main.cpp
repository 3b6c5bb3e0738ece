// Question: how long do urgent jobs wait, and how busy are the databases, where a thousand servers
// share queues on PostgreSQL (docs/scaling.md)?
//
// usage: heistd_simulation COSTS [--shards N] …   prints a row of a table in Markdown
//
// The servers do what heistd does, on a virtual clock; what calls cost a database was measured by
// bench/postgresql_costs.py. Each database has a part of the servers, and of the jobs.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <deque>
#include <exception>
#include <numeric>
#include "node.hpp"

namespace simulation {
namespace {

/// 5 in 100 jobs are urgent, 25 user-visible; the rest is as long as fills the agents.
constexpr double urgent_part = 0.05;
constexpr double visible_part = 0.25;
constexpr Time urgent_work = std::chrono::milliseconds(20);
constexpr Time visible_work = std::chrono::milliseconds(100);
constexpr double warming_minutes = 0.25;  ///< before what counts

class Simulation {
 public:
  Simulation(const CallCosts& costs, const Setting& setting)
      : setting_(setting), world_(setting.seed) {
    for (std::size_t shard = 0; shard < setting.shards; ++shard) {
      databases_.emplace_back(world_, figures_, costs, setting_);
    }
    for (std::size_t node = 0; node < setting.nodes; ++node) {
      nodes_.emplace_back(world_, figures_, databases_.at(node % setting.shards), setting_);
    }
  }

  Figures run() {
    submit_next();
    advance(warming_minutes);
    figures_ = {};
    if (setting_.deaths_a_minute > 0) kill_next();
    if (setting_.failover_seconds > 0) {
      world_.after(std::chrono::seconds(10),
                   [this] { databases_.front().stop_for(time_of(setting_.failover_seconds)); });
    }
    advance(setting_.minutes);
    return std::move(figures_);
  }

 private:
  void advance(double minutes) {
    for (double second = 0; second < minutes * 60; ++second) {
      world_.advance(std::chrono::seconds(1));
      std::fprintf(stderr, "\rsimulated: %.0f s ", seconds_of(world_.now()));
    }
  }

  /// The loop's clock is coarser than the time between two jobs, and must not add to it.
  void submit_next() {
    next_ += world_.random_time(time_of(60 / setting_.jobs_a_minute));
    world_.after(next_ - world_.now(), [this] { submit_next(); });
    nodes_.at(world_.random_index(nodes_.size())).submit(random_job());
  }

  Job random_job() {
    const double chance = world_.random_part();
    if (chance < urgent_part) return {user_blocking, {}, world_.random_time(urgent_work)};
    if (chance < urgent_part + visible_part) {
      return {user_visible, {}, world_.random_time(visible_work)};
    }
    return {background, {}, world_.random_time(background_work())};
  }

  [[nodiscard]] Time background_work() const {
    const double jobs_a_second = setting_.jobs_a_minute / 60;
    const double all =
        static_cast<double>(setting_.nodes * setting_.agents) * setting_.load / jobs_a_second;
    const double others =
        urgent_part * seconds_of(urgent_work) + visible_part * seconds_of(visible_work);
    return time_of(std::max(all - others, 0.001) / (1 - urgent_part - visible_part));
  }

  void kill_next() {
    world_.after(world_.random_time(time_of(60 / setting_.deaths_a_minute)), [this] {
      nodes_.at(world_.random_index(nodes_.size())).die();
      kill_next();
    });
  }

  const Setting setting_;
  World world_;
  Time next_ = {};  ///< when the next job comes
  Figures figures_;
  std::deque<Database> databases_;
  std::deque<Node> nodes_;
};

/// Milliseconds.
double quantile(std::vector<double>& values, double part) {
  if (values.empty()) return 0;
  const auto at =
      values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at * 1000;
}

/// Of the calls, and of the processors' time, each database has this part in a second.
double each(double all, const Setting& setting) {
  return all / (setting.minutes * 60) / static_cast<double>(setting.shards);
}

void print(const Setting& setting, Figures figures) {
  auto& urgent = figures.start_delays[user_blocking];
  auto& visible = figures.start_delays[user_visible];
  const auto count = [](auto number) { return static_cast<double>(number); };
  std::printf("| %zu × %zu | %.0f %% | %.0f |", setting.shards, setting.processors,
              setting.load * 100, count(figures.ended) / setting.minutes / 60);
  std::printf(" %.1f | %.1f | %.0f | %.1f | %.1f |", quantile(urgent, 0.5), quantile(urgent, 0.99),
              quantile(urgent, 1), quantile(visible, 0.99), quantile(figures.accept_times, 0.99));
  std::printf(" %.0f %% | %.0f | %.0f | %.0f %% |",
              each(seconds_of(figures.processors), setting) / count(setting.processors) * 100,
              each(count(figures.calls), setting), each(count(figures.claims), setting),
              count(figures.empty_claims) / std::max(count(figures.claims), 1.0) * 100);
  std::printf(" %.0f | %.0f |\n", count(figures.run_again), count(figures.refused));
}

int run(int argc, char** argv) {
  Setting setting;
  std::string costs;
  CLI::App app("How long jobs wait where many servers share queues on PostgreSQL");
  app.add_option("COSTS", costs, "what bench/postgresql_costs.py has printed")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--nodes", setting.nodes, "servers")->capture_default_str();
  app.add_option("--agents", setting.agents, "of each server")->capture_default_str();
  app.add_option("--shards", setting.shards, "databases")->capture_default_str();
  app.add_option("--processors", setting.processors, "of each database")->capture_default_str();
  app.add_option("--lanes", setting.lanes, "of each database")->capture_default_str();
  app.add_option("--jobs-a-minute", setting.jobs_a_minute)->capture_default_str();
  app.add_option("--load", setting.load, "of all agents")->capture_default_str();
  app.add_option("--minutes", setting.minutes, "after a first one, which does not count")
      ->capture_default_str();
  app.add_option("--deaths-a-minute", setting.deaths_a_minute, "of servers")->capture_default_str();
  app.add_option("--failover-seconds", setting.failover_seconds, "that one database is away")
      ->capture_default_str();
  app.add_option("--heeding", setting.heeding, "how many servers heed a hint; 0: all")
      ->capture_default_str();
  app.add_option("--seed", setting.seed)->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  std::puts(
      "| databases × processors | load | jobs/s | urgent start p50, ms | p99 | most | user-visible "
      "p99 "
      "| accepted p99 | processors | calls/s | claims/s | in vain | run again | refused |\n"
      "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
  print(setting, Simulation(CallCosts(costs), setting).run());
  return 0;
}

}  // namespace
}  // namespace simulation

int main(int argc, char** argv) try {
  return simulation::run(argc, argv);
} catch (const std::exception& error) {
  std::fprintf(stderr, "heistd_simulation: %s\n", error.what());
  return 1;
}
