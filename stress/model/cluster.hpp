// What models of whole clusters share.
#pragma once

#include <heist/heist.hpp>
#include <memory>
#include <vector>

#include "cluster/cluster_core.hpp"
#include "cluster/member.hpp"
#include "loop/drive_scope.hpp"
#include "model_time.hpp"
#include "support.hpp"

namespace heist::model {

using namespace detail;

/// Of loops that go by a ModelTime.
inline EventLoopOptions on_model_time() {
  EventLoopOptions options;
  options.spin = {};
  return options;
}

/// A cluster as AgentCluster makes it, of loops that a model's threads drive; the last ones are
/// reserves.
class LoopCluster {
 public:
  explicit LoopCluster(unsigned size = 2, const EventLoopOptions& options = on_virtual_clock(),
                       ReserveSetup reserves = {}) {
    std::vector<Ref<LoopCore>> members;
    for (unsigned index = 0; index < size + reserves.count; ++index) {
      loops_.push_back(std::make_unique<EventLoop>(options));
      members.push_back(Ref<LoopCore>::share(&Access::core(*loops_.back())));
    }
    core_ = ClusterCore::make(options, std::move(members), reserves, Placement(size));
  }
  LoopCluster(const LoopCluster&) = delete;
  LoopCluster& operator=(const LoopCluster&) = delete;
  ~LoopCluster() {
    for (unsigned index = 0; index < loops_.size(); ++index) close(index);
    loops_.clear();
    core_->free_keeper_state();
  }

  [[nodiscard]] Scheduler scheduler() const {
    return Access::make<Scheduler>(Ref<TaskHome>::share(core_.get()), &core_->first_scheduler());
  }
  [[nodiscard]] Scheduler bound(unsigned index) const { return loops_[index]->scheduler(); }
  [[nodiscard]] EventLoop& loop(unsigned index) const { return *loops_[index]; }
  [[nodiscard]] ClusterCore& core() const noexcept { return *core_; }
  [[nodiscard]] Member& member(unsigned index) const {
    return *Member::of(Access::core(*loops_[index]));
  }

  /// Any thread: ends each run().
  void stop() const {
    for (const auto& loop : loops_) loop->stop();
  }
  /// Any thread, on virtual clocks.
  void pass_time(std::chrono::nanoseconds now) const { core_->time().set_virtual(now); }

  // A member's thread.
  void run(unsigned index) const { loops_[index]->run(); }
  /// Of a reserve, until a stop.
  void run_reserve(unsigned index) const {
    member(index).enlist();
    run(index);
  }
  void run_one(unsigned index) const { loops_[index]->run_one(); }
  void run_until_idle(unsigned index) const { loops_[index]->run_until_idle(); }
  /// All members, this thread being the first one: each waits for a task and runs it.
  void run_one_each() const {
    for (unsigned index = 1; index < loops_.size(); ++index) {
      spawn([this, index] { run_one(index); });
    }
    run_one(0);
    join_all();
  }
  /// As an agent that ends (Agent::Impl::drive), once.
  void close(unsigned index) {
    EventLoop& loop = *loops_[index];
    if (Access::core(loop).is_closed()) return;
    const DriveScope driving(Access::core(loop));
    Access::core(loop).assert_agent();
    core().closing().begin_to_leave();
    Access::core(loop).closing().close(CloseMode::abort());
    core().closing().leave(Access::core(loop));
  }

 private:
  std::vector<std::unique_ptr<EventLoop>> loops_;
  Ref<ClusterCore> core_;
};

/// Tasks that need as many agents at the same time as there are tasks: each waits until all have
/// started.
class Meeting {
 public:
  explicit Meeting(std::uint32_t size) noexcept : all_(size) {}

  void operator()() {
    auto now = started_.fetch_add(1, sync::acq_rel) + 1;
    if (now == all_) return wake_all_on_word(started_);
    while ((now = started_.load(sync::acquire)) < all_) wait_on_word(started_, now, {});
  }
  /// A task of it.
  [[nodiscard]] auto task() noexcept {
    return [this] { (*this)(); };
  }

 private:
  std::uint32_t all_;
  sync::atomic<std::uint32_t> started_{0};
};

}  // namespace heist::model
