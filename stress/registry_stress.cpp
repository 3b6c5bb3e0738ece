// The registry by itself: one thread walks it a few times and then closes it. Another one kills
// registrations, and so prunes it. A third one adds more registrations, some of which die at once.
// In some rounds the first of these adds makes what pruning needs.
//
// I1  A walk meets every registration that was added before it and stays alive to its end.
// I2  Nobody meets a registration of which the registry has dropped its share.
// I3  Once it is closed and quiet, the registry has dropped its share of each registration that it
//     took, exactly once.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <vector>

#include "heist/concurrent/registry.hpp"
#include "support/crew.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t most_early = 200;  ///< added before the round; enough for two prunings
/// So few that the next one to be added makes what pruning needs.
constexpr std::size_t few_early = Registry::passes_after;
constexpr std::size_t late = 100;

struct Entry : Registration {
  Entry() noexcept : Registration(table) {}

  static Entry& of(Registration& registration) { return static_cast<Entry&>(registration); }
  static bool claim(Registration& registration) noexcept {
    return !of(registration).ops->is_dead(registration);
  }
  static bool is_dead(const Registration& registration) noexcept {
    return static_cast<const Entry&>(registration)
        .dead.load(sync::edge("stress:is_dead", sync::acquire));
  }
  static void forget(Registration& registration) noexcept { ++of(registration).forgotten; }
  static constexpr Ops table{&claim, &is_dead, &forget, Kind::task};

  sync::atomic<bool> dead{false};
  bool must_be_met = false;  ///< it was added before the round, and stays
  bool added = false;
  std::uint64_t forgotten = 0;
};

struct Counts {
  std::uint64_t met = 0;
  std::uint64_t killed = 0;
  std::uint64_t refused = 0;
};

class RegistryStress {
 public:
  void round(Random& random) {
    begin(random);
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      if (member == 0) return walk_and_close(own);
      member == 1 ? kill(own) : add_late(own);
    });
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const Entry& entry = *entries_[i];
      check(entry.forgotten == (entry.added ? 1 : 0), "a registration was not let go of once");
      if (!entry.added) ++counts_.refused;
      // relaxed: a quiet point.
      if (i < early_ && entry.dead.load(sync::relaxed)) ++counts_.killed;
    }
  }

  [[nodiscard]] Counts counts() const { return counts_; }

 private:
  void begin(Random& random) {
    registry_.emplace();
    entries_.clear();
    early_ = random.one_in(2) ? most_early : few_early;
    for (std::size_t i = 0; i < early_ + late; ++i) {
      entries_.push_back(std::make_unique<Entry>());
      Entry& entry = *entries_.back();
      entry.must_be_met = i < early_ && random.one_in(4);
      entry.added = i < early_ && registry_->add(entry);
    }
  }

  void walk_and_close(Random& random) {
    for (auto walks = random.below(3); walks > 0; --walks) {
      expect_all([this](auto visit) { registry_->walk(visit); });
    }
    // The close falls anywhere into the time of the killer.
    for (auto steps = random.below(100); steps > 0; --steps) dither(random);
    expect_all([this](auto visit) { registry_->close(visit); });
  }

  /// Walks, and checks that every registration that must be met is met once.
  template <class Walk>
  void expect_all(Walk&& walk) {
    auto missing = std::ranges::count_if(entries_, [](auto& each) { return each->must_be_met; });
    walk([&](Registration& registration) {
      const Entry& entry = Entry::of(registration);
      check(entry.forgotten == 0, "met what had been let go of");
      ++counts_.met;
      if (entry.must_be_met) --missing;
    });
    check(missing == 0, "a living registration was missed, or met twice");
  }

  void kill(Random& random) {
    for (std::size_t i = 0; i < early_; ++i) {
      if (entries_[i]->must_be_met) continue;
      entries_[i]->dead.store(true, sync::edge("stress:kill", sync::release));
      registry_->note_dead();
      if (random.one_in(8)) dither(random);
    }
  }

  void add_late(Random& random) {
    for (std::size_t i = early_; i < entries_.size(); ++i) {
      const bool dies = random.one_in(2);
      entries_[i]->dead.store(dies, sync::relaxed);  // relaxed: published by the add.
      entries_[i]->added = registry_->add(*entries_[i]);
      if (dies && entries_[i]->added) registry_->note_dead();
      if (random.one_in(4)) dither(random);
    }
  }

  std::optional<Registry> registry_;
  std::size_t early_ = 0;
  std::vector<std::unique_ptr<Entry>> entries_;
  Counts counts_;
  Crew crew_{3};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("registry_stress", {argv, static_cast<std::size_t>(argc)});
  RegistryStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  const Counts counts = stress.counts();
  std::printf("rounds %llu, met %llu, killed %llu, refused %llu\n", printable(rounds),
              printable(counts.met), printable(counts.killed), printable(counts.refused));
  check(counts.killed > 0 && counts.met > 0, "nothing happened");
}
