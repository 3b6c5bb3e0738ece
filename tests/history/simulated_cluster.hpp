// SimulatedCluster: simulates posters and agents that keep CLU-1, in random steps from a seed, and
// gives their history.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "told_history.hpp"

namespace heist::support {

/// Each step of each thread takes one unit of time, so no two moments are the same. A task becomes
/// visible some time before its post returns. An agent begins a pick, later decides for any of the
/// visible tasks of the highest level, and later starts it. It may take a batch, which is invisible
/// until it is published. With `one_inversion` one pick breaks CLU-1.
class SimulatedCluster {
 public:
  enum class Fault : std::uint8_t { none, one_inversion };

  SimulatedCluster(std::size_t posters, std::size_t agents, std::size_t tasks, Fault fault,
                   std::uint64_t seed)
      : posting_(posters),
        agents_(agents),
        is_inversion_due_(fault != Fault::none),
        random_(seed),
        posts_in_ten_(1 + random_.below(9)) {
    while (tasks_.size() < tasks) add_task();
  }

  /// Runs until every post has returned and every task has started.
  const std::vector<ToldTask>& run() {
    while (started_ < tasks_.size() || posted_ < tasks_.size()) {
      ++now_;
      if (random_.below(10) < posts_in_ten_) {
        const std::size_t poster = random_.below(posting_.size());
        step_post(posting_[poster], poster);
      } else {
        const std::size_t agent = random_.below(agents_.size());
        step_agent(agents_[agent], agent);
      }
    }
    return tasks_;
  }

  /// Whether there was an occasion for the fault.
  [[nodiscard]] bool has_inverted() const noexcept { return has_inverted_; }

 private:
  using Moment = stress::Moment;
  static constexpr std::size_t none = ~std::size_t{0};

  struct Life {
    bool is_visible = false;
    Moment waits_since = stress::never;  ///< since when every pick must see it
    Moment hidden_until = 0;             ///< picks that began before this do not see it
  };
  struct Posting {
    std::size_t task = none;
  };
  struct Picking {
    enum class Step : std::uint8_t { idle, picks, publishes, starts } step = Step::idle;
    Moment pick_begin = 0;
    std::size_t chosen = none;
    std::size_t passed = none;
    std::vector<std::size_t> batch;
  };

  void add_task() {
    ToldTask task;
    task.record.id = {.sequence = static_cast<std::uint32_t>(tasks_.size()),
                      .poster = static_cast<std::uint16_t>(random_.below(posting_.size())),
                      .level = static_cast<std::uint8_t>(random_.below(stress::history_levels))};
    tasks_.push_back(task);
    lives_.emplace_back();
  }

  void step_post(Posting& posting, std::size_t poster) {
    if (posting.task == none) {
      const auto mine = std::ranges::find_if(tasks_, [&](const ToldTask& task) {
        return task.record.id.poster == poster && task.record.post_begin == stress::never;
      });
      if (mine == tasks_.end()) return;
      mine->record.post_begin = now_;
      posting.task = static_cast<std::size_t>(mine - tasks_.begin());
    } else if (!was_visible(posting.task)) {
      lives_[posting.task].is_visible = true;
      seen_.push_back(posting.task);
    } else {
      tasks_[posting.task].record.post_end = now_;
      lives_[posting.task].waits_since = now_;
      posting.task = none;
      ++posted_;
    }
  }
  [[nodiscard]] bool was_visible(std::size_t task) const {
    return std::ranges::find(seen_, task) != seen_.end();
  }

  void step_agent(Picking& agent, std::size_t number) {
    switch (agent.step) {
      case Picking::Step::idle:
        agent.pick_begin = now_;
        agent.step = Picking::Step::picks;
        break;
      case Picking::Step::picks:
        decide(agent);
        break;
      case Picking::Step::publishes:
        publish(agent, number);
        break;
      case Picking::Step::starts:
        start(agent, number);
        break;
    }
  }

  void decide(Picking& agent) {
    std::vector<std::size_t> best = best_of(agent, stress::history_levels);
    agent.step = best.empty() ? Picking::Step::idle : Picking::Step::starts;
    if (best.empty()) return;
    if (is_inversion_due_ && invert(agent, best)) return;
    agent.chosen = take_one(best);
    while (!best.empty() && random_.one_in(4)) agent.batch.push_back(take_one(best));
    for (const std::size_t task : agent.batch) tasks_[task].transfers.push_back({.begin = now_});
    if (!agent.batch.empty()) agent.step = Picking::Step::publishes;
  }

  /// The visible tasks of the highest level below `limit` that has any.
  std::vector<std::size_t> best_of(const Picking& agent, std::size_t limit) {
    std::vector<std::size_t> best;
    std::size_t level = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      const std::size_t own = tasks_[i].record.id.level;
      const bool is_seen = lives_[i].is_visible && lives_[i].hidden_until <= agent.pick_begin;
      if (!is_seen || own >= limit || own < level) continue;
      if (own > level) best.clear();
      level = own;
      best.push_back(i);
    }
    return best;
  }

  std::size_t take_one(std::vector<std::size_t>& from) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>(random_.below(from.size()));
    const std::size_t task = *at;
    from.erase(at);
    lives_[task].is_visible = false;
    return task;
  }

  /// Makes an agent pass over a task that has waited since before the pick, and choose a lower one.
  /// The task is hidden until the lower one has started.
  bool invert(Picking& agent, const std::vector<std::size_t>& best) {
    const std::size_t passed = best.front();
    if (lives_[passed].waits_since >= agent.pick_begin) return false;
    std::vector<std::size_t> lower = best_of(agent, tasks_[passed].record.id.level);
    if (lower.empty()) return false;
    agent.chosen = take_one(lower);
    agent.passed = passed;
    lives_[passed].hidden_until = stress::never;
    is_inversion_due_ = false;
    has_inverted_ = true;
    return true;
  }

  void publish(Picking& agent, std::size_t number) {
    for (const std::size_t task : agent.batch) {
      tasks_[task].transfers.back().end = now_;
      tasks_[task].transfers.back().agent = number;
      lives_[task].is_visible = true;
      const bool is_posted = tasks_[task].record.post_end != stress::never;
      lives_[task].waits_since = is_posted ? now_ : stress::never;
    }
    agent.batch.clear();
    agent.step = Picking::Step::starts;
  }

  void start(Picking& agent, std::size_t number) {
    tasks_[agent.chosen].record.pick_begin = agent.pick_begin;
    tasks_[agent.chosen].record.start = now_;
    tasks_[agent.chosen].agent = number;
    if (agent.passed != none) lives_[agent.passed].hidden_until = now_;
    agent.passed = none;
    agent.step = Picking::Step::idle;
    ++started_;
  }

  std::vector<Posting> posting_;
  std::vector<Picking> agents_;
  std::vector<ToldTask> tasks_;
  std::vector<Life> lives_;
  std::vector<std::size_t> seen_;  ///< tasks that were ever visible
  bool is_inversion_due_;
  bool has_inverted_ = false;
  std::size_t posted_ = 0;
  std::size_t started_ = 0;
  Moment now_ = 0;
  stress::Random random_;
  std::uint64_t posts_in_ten_;  ///< how many of ten steps are the posters'
};

}  // namespace heist::support
