// RunPlaces: how many jobs of a client run at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <heist/priority.hpp>
#include <list>
#include <memory>
#include <utility>

namespace heistd {

class Job;

/// Each job takes a place when an agent wants to begin it, and has it until it has ended. When none
/// is left, the job waits here, away from the agents, and the most urgent one goes first.
///
/// Thread: the network's.
class RunPlaces {
 public:
  /// Taken while this lives, which may be longer than the RunPlaces.
  class Place {
   public:
    explicit Place(std::shared_ptr<std::size_t> taken) noexcept : taken_(std::move(taken)) {
      ++*taken_;
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() { --*taken_; }

   private:
    const std::shared_ptr<std::size_t> taken_;
  };
  using Start = std::function<void()>;

  /// Zero: as many as there are. Those that run go on when it is less than before.
  void set_most(std::size_t most) noexcept { most_ = most; }

  /// Gives the job its place and calls `start`, at once or when start_some() finds that it can. It
  /// is not called for a job that has ended before, or was given up, or whose run has ended. False:
  /// it has to wait.
  ///
  /// Errors: std::bad_alloc.
  bool ask(const std::shared_ptr<Job>& job, Start start);

  /// Gives the job its place although none may be left: it does not ask.
  void take(Job& job) const;

  /// To be called when a job has ended, or more may run.
  ///
  /// Cost: for each that starts, a step for each that waits, of which there are few.
  void start_some() noexcept;

  [[nodiscard]] std::size_t taken() const noexcept { return *taken_; }
  /// Jobs that wait here, of this priority and more urgent ones.
  [[nodiscard]] std::size_t waiting(heist::TaskPriority least) const noexcept;

 private:
  struct Waiting {
    std::weak_ptr<Job> job;
    std::uint64_t run;  ///< of the job's, that has asked
    Start start;
  };
  [[nodiscard]] static std::shared_ptr<Job> job_of(const Waiting& waits) noexcept;

  [[nodiscard]] bool has_place() const noexcept { return most_ == 0 || *taken_ < most_; }

  const std::shared_ptr<std::size_t> taken_ = std::make_shared<std::size_t>(0);
  std::size_t most_ = 0;
  bool is_starting_ = false;
  std::list<Waiting> waiting_;  ///< in the order in which they have asked
};

}  // namespace heistd
