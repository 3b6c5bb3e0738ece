// OrderWorkload: chains of posts across threads onto one agent, and the order in which it ran them.
//
// A chain is a sequence of hops. Each hop belongs to a thread of the crew or to the agent itself.
// Its owner posts, then tells the owner of the next hop through a flag (release, acquire), which
// posts then. So each post of a chain happened before the next one, whatever the threads. Posts of
// different chains overlap.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <heist/heist.hpp>
#include <optional>
#include <vector>

#include "crew.hpp"
#include "fence.hpp"
#include "order_log.hpp"
#include "stress_run.hpp"

namespace heist::stress {

using namespace detail;

/// What the rounds of a workload have seen so far.
struct OrderTotals {
  const char* violation = nullptr;  ///< the last one, or null
  std::uint64_t rounds = 0;
  std::uint64_t tasks = 0;
  std::uint64_t handed_over_pairs =
      0;  ///< pairs of posts of one chain and level, by different threads
  std::uint64_t overlapping_chains = 0;  ///< counts pairs of chains
  std::uint64_t overlapping_posts = 0;   ///< counts pairs of posts of different chains
  std::uint64_t level_pairs = 0;
  std::uint64_t age_pairs = 0;
};

class OrderWorkload {
 public:
  enum class Delays : std::uint8_t { none, some };

  explicit OrderWorkload(Delays delays) : delays_(delays) {
    for (std::size_t i = 0; i < controllers_.size(); ++i) controllers_[i].emplace(priorities[i]);
  }

  void round(Random& random) {
    has_timeline_ = random.one_in(2);
    plan(random);
    const std::uint64_t seed = random();
    check(scheduler_.post([this, seed] { pump(Random(seed)); }), "an open agent refused a task");
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + 1 + member);
      while (!all_posted()) {
        if (!post_next_of(member, own)) std::this_thread::yield();
      }
    });
    // relaxed: a number; the fence orders what was done.
    await([this] { return done_.load(sync::relaxed) == chains * hops; }, "a task never ran");
    fence(scheduler_);
    judge();
  }

  [[nodiscard]] const OrderTotals& totals() const { return totals_; }

 private:
  static constexpr std::size_t threads = 3;
  static constexpr std::size_t the_agent = threads;  ///< the owner of a hop that is a local post
  static constexpr std::size_t chains = 4;
  static constexpr std::size_t hops = 8;

  struct Hop {
    Posted posted;
    std::size_t owner = 0;
    bool has_signal = false;
    std::chrono::microseconds delay{};
    std::uint64_t ran_as = 0;  ///< its place in the order in which the agent ran tasks
  };

  void plan(Random& random) {
    for (auto& chain : hops_) {
      for (Hop& hop : chain) {
        hop = {};
        hop.owner = random.below(threads + 1);
        hop.has_signal = random.one_in(3);
        hop.posted.priority = priorities[random.below(3)];
        if (delays_ == Delays::some) hop.delay = std::chrono::microseconds(random.below(4) * 20);
      }
    }
    for (auto& next : next_hop_) next.store(0, sync::relaxed);  // relaxed: before the start.
    done_.store(0, sync::relaxed);                              // relaxed: as above.
    ran_.clear();
  }

  bool all_posted() {
    return std::ranges::all_of(next_hop_, [](const auto& next) {
      return next.load(sync::relaxed) ==
             hops;  // relaxed: it ends the round, and the crew's end orders it.
    });
  }

  /// Does the posts for which it is this owner's turn. Returns false when there was none.
  bool post_next_of(std::size_t owner, Random& random) {
    bool posted = false;
    for (std::size_t chain = 0; chain < chains; ++chain) {
      const std::size_t turn = next_hop_[chain].load(sync::edge("stress:told", sync::acquire));
      if (turn == hops || hops_[chain][turn].owner != owner) continue;
      post(hops_[chain][turn], random);
      next_hop_[chain].store(turn + 1, sync::edge("stress:tell", sync::release));
      posted = true;
      if (random.one_in(4)) dither(random);
    }
    return posted;
  }

  void post(Hop& hop, Random& random) {
    PostTaskOptions options{.delay = hop.delay};
    const auto level = static_cast<std::size_t>(hop.posted.priority);
    if (hop.has_signal) {
      options.signal = controllers_[level]->signal();  // its priority never changes
    } else {
      options.priority = hop.posted.priority;
    }
    if (has_timeline_) hop.posted.called = time_.mark();
    // The post seems to take long, so that others begin and end theirs meanwhile.
    if (random.one_in(8)) std::this_thread::yield();
    check(scheduler_.post([this, &hop] { run(hop); }, options), "an open agent refused a task");
    if (has_timeline_) hop.posted.done = time_.mark();
  }

  void run(Hop& hop) {
    hop.ran_as = ran_.size() + 1;
    hop.posted.pick_after = last_end_;
    if (has_timeline_) hop.posted.started = time_.mark();
    ran_.push_back(&hop.posted);
    done_.fetch_add(1, sync::relaxed);  // relaxed: a count.
    if (has_timeline_) last_end_ = time_.mark();
  }

  /// Called on the agent: does local posts, while posts from outside pile up.
  void pump(Random random) {
    for (auto turns = random.below(200); turns > 0 && !all_posted(); --turns) {
      if (!post_next_of(the_agent, random) && random.one_in(8)) std::this_thread::yield();
    }
    if (has_timeline_) last_end_ = time_.mark();
    if (all_posted()) return;
    const auto priority = priorities[random.below(3)];
    const std::uint64_t seed = random();
    check(scheduler_.post([this, seed] { pump(Random(seed)); }, {.priority = priority}),
          "an agent refused its own task");
  }

  void judge() {
    ++totals_.rounds;
    totals_.tasks += ran_.size();
    for (const auto& chain : hops_) judge_chain(chain);
    if (!has_timeline_) return;
    count_overlaps();
    if (delays_ == Delays::some) return;  // tasks become runnable at times of their own
    const OrderVerdict verdict = check_order(ran_);
    if (verdict.violation != nullptr) totals_.violation = verdict.violation;
    totals_.level_pairs += verdict.level_pairs;
    totals_.age_pairs += verdict.age_pairs;
  }

  using Chain = std::array<Hop, hops>;

  void judge_chain(const Chain& chain) {
    for (std::size_t later = 1; later < hops; ++later) {
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        judge_pair(chain[earlier], chain[later]);
      }
    }
  }
  void judge_pair(const Hop& earlier, const Hop& later) {
    if (earlier.posted.priority != later.posted.priority || earlier.delay > later.delay) return;
    if (earlier.owner != later.owner) ++totals_.handed_over_pairs;
    if (earlier.ran_as < later.ran_as) return;
    totals_.violation = delays_ == Delays::none
                            ? "ORD-2 violated: a post that happened before another one ran later"
                            : "DLY-2 violated: an earlier post with no longer delay ran later";
  }

  void count_overlaps() {
    for (std::size_t one = 0; one < chains; ++one) {
      for (std::size_t other = 0; other < one; ++other) count_overlaps(hops_[one], hops_[other]);
    }
  }
  void count_overlaps(const Chain& one, const Chain& other) {
    if (overlap(one.front().posted.called, one.back().posted.done, other.front().posted.called,
                other.back().posted.done)) {
      ++totals_.overlapping_chains;
    }
    for (const Hop& a : one) {
      for (const Hop& b : other) {
        if (overlap(a.posted.called, a.posted.done, b.posted.called, b.posted.done)) {
          ++totals_.overlapping_posts;
        }
      }
    }
  }
  static bool overlap(Moment begin, Moment end, Moment other_begin, Moment other_end) {
    return begin < other_end && other_begin < end;
  }

  static AgentOptions quick_agent() {
    AgentOptions options;
    options.loop.tick = std::chrono::microseconds(20);
    return options;
  }

  const Delays delays_;
  bool has_timeline_ = false;
  Timeline time_;
  std::array<std::optional<TaskController>, 3> controllers_;  ///< one for each priority
  std::array<Chain, chains> hops_;
  std::array<sync::atomic<std::size_t>, chains> next_hop_{};
  std::vector<const Posted*> ran_;  ///< belongs to the agent
  Moment last_end_ = 0;             ///< belongs to the agent
  sync::atomic<std::size_t> done_{0};
  OrderTotals totals_;
  Agent agent_{quick_agent()};
  Scheduler scheduler_ = agent_.scheduler();
  Crew crew_{threads};
};

}  // namespace heist::stress
