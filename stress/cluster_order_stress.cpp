// Clusters of one to sixteen agents, whose histories are checked while they are made.
//
// I1  CLU-1: no task starts while a task of a higher level, which was posted, moved or resumed
//     before the pick began, stays unclaimed all through that pick. This holds whichever agent
//     picks, for every kind of task, and whoever posted it.
// I2  Every task that is posted starts exactly once, or is dropped because its signal was aborted.
// I3  CLU-2: a task of a fixed priority that comes from outside starts before no more older ones of
//     its level than the bound says; with one agent, before none.
// I4  CLU-3: nothing that was posted stays behind.
//
// usage: [--tasks N]    runs at least N tasks, however long that takes
//        [--data FILE]  writes rank errors and delays for scripts/plot_order
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>

#include "support/order_round.hpp"

namespace {

using namespace heist;
using namespace heist::stress;

/// What rounds of all kinds have shown.
struct Totals {
  LevelVerdict levels;
  std::uint64_t started = 0;
  std::uint64_t dropped = 0;
  std::uint64_t stolen = 0;
  std::uint64_t sleeps = 0;
  std::uint64_t max_rank = 0;  ///< among tasks from outside, where it is bounded
  std::map<std::string, RankError>
      ranks;  ///< by agents and mix; only of rounds in real time with many tasks
};

class OrderStress {
 public:
  explicit OrderStress(std::uint64_t posts_each) : posts_each_(posts_each) {}

  void round(Random& random) {
    // Rounds go through all of these in turn, and so come to all combinations. What a short run has
    // to see comes first.
    static constexpr std::array<unsigned, 7> agents{4, 1, 2, 3, 8, 16, 80};
    static constexpr std::array mixes{OrderMix::disturbed, OrderMix::mixed, OrderMix::outside};
    static constexpr std::array<std::uint64_t, 4> under_way{1000, 3, 60, 30'000};
    const OrderPlan plan{.agents = agents[number_ % agents.size()],
                         .mix = mixes[number_ % mixes.size()],
                         .posts = posts_each_,
                         .under_way = under_way[number_ / 2 % under_way.size()],
                         .seed = random()};
    // A clock that counts events orders the threads that it observes. Real time does not, but it is
    // coarser.
    if (++number_ % 2 == 0) return run<CounterClock>(plan);
    run<SteadyClock>(plan);
  }

  [[nodiscard]] const Totals& totals() const noexcept { return totals_; }

 private:
  template <class Clock>
  void run(const OrderPlan& plan) {
    const auto round = std::make_unique<OrderRound<Clock>>(plan);
    round->run();
    const auto& history = round->history();
    totals_.levels.add(history.verdict());
    totals_.started += history.exactly_once().started;
    totals_.dropped += history.exactly_once().dropped;
    totals_.stolen += round->stats().stolen;
    totals_.sleeps += round->stats().sleeps;
    if (plan.mix == OrderMix::outside) {
      totals_.max_rank = std::max(totals_.max_rank, history.rank_error().max_rank());
    }
    const bool has_order = plan.mix != OrderMix::disturbed && plan.under_way >= 1000;
    if (std::is_same_v<Clock, SteadyClock> && has_order) {
      totals_.ranks[name_of(plan)].add(history.rank_error());
    }
  }
  static std::string name_of(const OrderPlan& plan) {
    return std::to_string(plan.agents) + (plan.mix == OrderMix::outside ? "\toutside" : "\tmixed");
  }

  std::uint64_t posts_each_;
  std::uint64_t number_ = 0;
  Totals totals_;
};

void write_data(const Totals& totals, std::string_view file) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(
      std::fopen(std::string(file).c_str(), "w"), std::fclose);
  check(out != nullptr, "the data file cannot be written");
  std::fputs("agents\tmix\torigin\tlevel\tmeasure\tunit\tshare_above\tvalue\n", out.get());
  for (const auto& [name, ranks] : totals.ranks) {
    ranks.write_tsv(out.get(), name, SteadyClock::unit);
  }
}

void print(std::uint64_t rounds, const Totals& totals) {
  for (const auto& [name, ranks] : totals.ranks) {
    std::printf("agents and mix: %s\n", name.c_str());
    ranks.print_summary(stdout, SteadyClock::unit);
  }
  std::printf(
      "rounds %llu, tasks %llu, dropped %llu, moves %llu, stolen %llu, sleeps %llu, pairs compared "
      "%llu, excused %llu, in transfer %llu, violating %llu, rank error at most %llu\n",
      printable(rounds), printable(totals.started), printable(totals.dropped),
      printable(totals.levels.moves), printable(totals.stolen), printable(totals.sleeps),
      printable(totals.levels.pairs_compared), printable(totals.levels.pairs_excused),
      printable(totals.levels.pairs_in_transfer), printable(totals.levels.violating_pairs),
      printable(totals.max_rank));
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view tasks = "0";
  std::string_view data;
  const auto options = parse("cluster_order_stress", {argv, static_cast<std::size_t>(argc)},
                             {{"--tasks", &tasks}, {"--data", &data}});
  const std::uint64_t wanted = number_of("--tasks", tasks);
  const bool is_long = options.duration >= std::chrono::seconds(60) || wanted != 0;
  OrderStress stress(is_long ? 200'000 : 10'000);
  Random random(options.seed);
  const Totals& totals = stress.totals();
  const auto is_enough = [&totals] {
    return totals.levels.pairs_compared > 0 && totals.dropped > 0;
  };
  const auto rounds = run_rounds(options, [&stress](Random& own) { stress.round(own); }, is_enough);
  std::uint64_t more = 0;
  for (; totals.started < wanted; ++more) {
    stress.round(random);
    if (more % 16 != 0) continue;
    std::printf("%llu of %llu tasks, pairs compared %llu\n", printable(totals.started),
                printable(wanted), printable(totals.levels.pairs_compared));
    std::fflush(stdout);
  }
  if (!data.empty()) write_data(totals, data);
  print(rounds + more, totals);
  check(options.duration.count() == 0 || is_enough(), "one outcome of the race was never seen");
}
