// OrderTasks: what threads and tasks do, and tell, in a round of a cluster's history.
//
// Two threads post from outside, with a limit on the tasks that are under way. Tasks post others,
// and yield. In rounds with signals their priorities change, from outside and from tasks, and they
// are aborted.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <heist/agent_cluster.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "fence.hpp"
#include "history/history.hpp"
#include "order_group.hpp"
#include "order_teller.hpp"

namespace heist::stress {

using namespace detail;

/// What happens in a round.
enum class OrderMix : std::uint8_t {
  outside,    ///< plain tasks of fixed priorities, all from outside; the bound of CLU-2 holds
  mixed,      ///< also tasks from tasks, yields, delays and signals
  disturbed,  ///< also aborts of tasks of a fixed priority, and suspensions
};

struct OrderPlan {
  unsigned agents = 1;
  OrderMix mix = OrderMix::outside;
  std::uint64_t posts = 0;  ///< how many posts come from outside
  /// How many tasks may be under way while threads outside post. Tasks do not heed it.
  std::uint64_t under_way = 0;
  std::uint64_t seed = 0;
};

template <class Clock>
class OrderTasks {
 public:
  static constexpr std::uint16_t posters = 2;  ///< threads outside; their lanes come first

  OrderTasks(const OrderPlan& plan, History<Clock>& history)
      : plan_(plan), groups_(posters * groups_each) {
    for (std::uint16_t i = 0; i < posters + plan.agents; ++i) {
      tellers_.push_back(std::make_unique<Teller>(history.lane(i), i, plan.seed + 7919 * i));
    }
  }

  /// Sets what the agents tell beside their tasks.
  void listen(AgentClusterOptions& options) {
    options.on_start = [this](unsigned agent) {
      here = tellers_[posters + agent].get();
      here->picks_next();
    };
    options.on_stop = [](unsigned) {
      here->tell_yield();
      here->lane().rest();
    };
  }
  /// To be called before any post.
  void post_to(const AgentCluster& cluster) {
    scheduler_.emplace(cluster.scheduler());
    for (unsigned i = 0; i < plan_.agents; ++i) bound_.push_back(cluster.agent(i).scheduler());
  }
  /// Called by a thread outside: does all its posts.
  void post_all(std::uint16_t number) {
    here = tellers_[number].get();
    for (std::size_t i = 0; i < groups_each; ++i) renew_group(own_group(i));
    for (std::uint64_t left = plan_.posts / posters; left > 0; --left) {
      if (left % 16 == 0) wait_for_room(here->random.one_in(500) ? 0 : plan_.under_way);
      if (plan_.mix != OrderMix::outside) disturb();
      post_one();
    }
    wait_for_room(plan_.under_way);
    here->lane().rest();
    posters_done_.fetch_add(1, sync::edge("stress:finish", sync::release));
  }

  // Any thread.

  /// Whether nothing is posted any more, and everything has ended.
  [[nodiscard]] bool are_done() const {
    if (posters_done_.load(sync::edge("stress:count", sync::acquire)) != posters) return false;
    const std::uint64_t ended = finished();  // has to be read first
    return ended == posted();
  }
  [[nodiscard]] std::uint64_t finished() const {
    std::uint64_t sum = 0;
    for (const auto& teller : tellers_) sum += teller->finished();
    return sum;
  }
  [[nodiscard]] std::uint64_t posted() const {
    std::uint64_t sum = 0;
    for (const auto& teller : tellers_) sum += teller->posted();
    return sum;
  }

  [[nodiscard]] const OrderTeller<Clock>& teller(std::size_t lane) const { return *tellers_[lane]; }

 private:
  using Teller = OrderTeller<Clock>;
  using GroupRef = std::shared_ptr<OrderGroup>;
  static constexpr std::size_t groups_each = 3;

  enum class Job : std::uint8_t { leaf, parent, fan_out, coroutine };

  struct Task {
    TaskId id{};
    TaskTraits traits{};
    Job job = Job::leaf;
    GroupRef group{};
  };

  /// The callback of a task that may be aborted. If it is destroyed without a start, it tells that.
  class Abortable {
   public:
    Abortable(OrderTasks& tasks, Task task) : tasks_(&tasks), task_(std::move(task)) {}
    Abortable(Abortable&& other) noexcept
        : tasks_(std::exchange(other.tasks_, nullptr)), task_(std::move(other.task_)) {}
    Abortable& operator=(Abortable&&) = delete;
    ~Abortable() {
      if (tasks_ != nullptr) here->drops(task_.id, task_.traits);
    }
    void operator()() { std::exchange(tasks_, nullptr)->run(task_); }

   private:
    OrderTasks* tasks_;
    Task task_;
  };

  // Posting.

  /// Waits until at most `most` tasks are under way. With zero, all agents often sleep then.
  void wait_for_room(std::uint64_t most) {
    if (here->number() == 0 && is_suspended_) resume();
    const auto is_full = [&] {
      const std::uint64_t ended = finished();
      return posted() - ended > most;
    };
    if (!is_full()) return;
    here->lane().rest();
    await([&] { return !is_full(); }, "CLU-3: tasks that were posted are never run");
  }

  void post_one() {
    Random& random = here->random;
    if (random.one_in(16)) return post_bound();
    Task task;
    PostTaskOptions options;
    task.id.level = level_of(give_priority(options));
    if (plan_.mix != OrderMix::outside) {
      if (random.one_in(6)) give_group(task, options);
      if (random.one_in(40)) give_delay(task, options);
      task.job = random_job(task);
    }
    post(std::move(task), options);
  }
  /// Posts a bound task, so that no agent's lane stands still, and because a bound task must not
  /// pass over anything either.
  void post_bound() {
    PostTaskOptions options;
    Task task;
    task.traits.is_hidden = true;
    task.id.level = level_of(give_priority(options));
    if (plan_.mix != OrderMix::outside && here->random.one_in(3)) give_group(task, options);
    post(std::move(task), options, bound_[here->random.below(bound_.size())]);
  }
  void post(Task task, const PostTaskOptions& options) {
    post(std::move(task), options, *scheduler_);
  }
  void post(Task task, const PostTaskOptions& options, const Scheduler& to) {
    task.id = here->next(task.id.level);
    const TaskId id = task.id;
    const TaskTraits traits = task.traits;
    const Moment begin = here->lane().before();
    if (task.group) {
      to.post(Abortable(*this, std::move(task)), options);
    } else {
      const bool is_posted =
          to.post([this, id, traits,
                   job = task.job] { run({.id = id, .traits = traits, .job = job, .group = {}}); },
                  options);
      check(is_posted, "a running cluster refused a task");
    }
    here->lane().posted(id, begin, traits);
  }

  TaskPriority give_priority(PostTaskOptions& options) {
    options.priority = priorities[here->random.below(3)];
    return *options.priority;
  }
  static std::uint8_t level_of(TaskPriority priority) noexcept {
    return static_cast<std::uint8_t>(effective_priority(priority, false));
  }
  void give_group(Task& task, PostTaskOptions& options) {
    task.group = own_group(here->random.below(groups_each));
    task.traits.group = task.group->number();
    hide_if_abortable(task);
    options.signal = task.group->signal();
    const bool is_fixed = plan_.mix == OrderMix::disturbed && here->random.one_in(2);
    if (is_fixed) return;
    options.priority.reset();
    task.traits.is_dynamic = true;
    task.id.level = 0;
  }
  /// Hides a task that may be aborted: an agent may have picked it before the abort, and nobody is
  /// told of that.
  static void hide_if_abortable(Task& task) noexcept {
    if (task.group->is_abortable()) task.traits.is_hidden = true;
  }
  void give_delay(Task& task, PostTaskOptions& options) {
    task.traits.is_hidden = true;
    options.delay = std::chrono::microseconds(here->random.below(200));
  }
  Job random_job(const Task& task) {
    Random& random = here->random;
    const bool may_yield = !task.group || !task.group->is_abortable();
    if (random.one_in(2000)) return Job::fan_out;
    if (random.one_in(8)) return Job::parent;
    return may_yield && random.one_in(8) ? Job::coroutine : Job::leaf;
  }

  // Signals.

  GroupRef& own_group(std::size_t i) { return groups_[here->number() * groups_each + i]; }

  void renew_group(GroupRef& group) {
    const std::uint32_t number = 1 + posters * next_group_[here->number()]++ + here->number();
    group = OrderGroup::make(*here, number);
  }

  void disturb() {
    Random& random = here->random;
    GroupRef& group = own_group(random.below(groups_each));
    if (random.one_in(40)) group->move(*here);
    if (group->is_abortable() && random.one_in(400) && group->abort(*here)) renew_group(group);
    if (plan_.mix != OrderMix::disturbed || here->number() != 0) return;
    if (is_suspended_ ? random.one_in(50) : random.one_in(2000))
      is_suspended_ ? resume() : suspend();
  }
  void suspend() {
    const auto begin = here->lane().before();
    scheduler_->suspend();
    here->lane().suspended(begin);
    is_suspended_ = true;
  }
  void resume() {
    const auto begin = here->lane().before();
    scheduler_->resume();
    here->lane().resumed(begin);
    is_suspended_ = false;
  }

  // What tasks do.

  void run(const Task& task) {
    here->starts(task.id, task.traits);
    work();
    switch (task.job) {
      case Job::leaf:
        break;
      case Job::parent:
        for (auto left = 1 + here->random.below(3); left > 0; --left) post_child(task);
        if (task.group && task.traits.is_dynamic) task.group->move(*here);
        break;
      case Job::fan_out:
        for (int left = 300; left > 0; --left) post_child(task);
        break;
      case Job::coroutine:
        static_cast<void>(turns(task.id.level, task.traits, 1 + here->random.below(3)));
        return here->tell_yield();
    }
    here->ends();
  }
  void post_child(const Task& parent) {
    Task child;
    PostTaskOptions options;
    child.id.level = level_of(give_priority(options));
    if (parent.traits.is_dynamic && here->random.one_in(2)) {
      child.group = parent.group;
      child.traits = {.group = parent.group->number(), .is_dynamic = true};
      hide_if_abortable(child);
      child.id.level = 0;
      options = {.signal = parent.group->signal()};
    }
    post(std::move(child), options);
  }
  Promise<void> turns(std::uint8_t level, TaskTraits traits, std::uint64_t left) {
    traits.is_hidden = false;
    const auto continuation = static_cast<std::uint8_t>(traits.is_dynamic ? 1 : level + 1);
    for (; left > 0; --left) {
      const TaskId id = here->yields(continuation, traits);
      co_await heist::yield();
      here->starts(id, traits);
      work();
    }
    here->ends();
  }
  /// Works for a while: mostly briefly, sometimes long enough for others to come and go.
  static void work() {
    Random& random = here->random;
    const volatile auto steps = random.one_in(64) ? random.below(20'000) : random.below(100);
    for (std::uint64_t i = 0; i < steps; ++i) {
    }
    if (random.one_in(1000)) std::this_thread::yield();
  }

  static inline thread_local Teller* here = nullptr;

  const OrderPlan plan_;
  std::vector<std::unique_ptr<Teller>> tellers_;
  std::vector<GroupRef> groups_;
  std::array<std::uint32_t, posters> next_group_{};
  std::optional<Scheduler> scheduler_;
  std::vector<Scheduler> bound_;
  bool is_suspended_ = false;  ///< belongs to poster 0
  sync::atomic<unsigned> posters_done_{0};
};

}  // namespace heist::stress
