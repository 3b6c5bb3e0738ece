// StartQueue: jobs of a journal that are about to start.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <heistd/job.hpp>
#include <list>
#include <map>
#include <memory>
#include <utility>

namespace heistd {

/// Decides which of the jobs that ask for it start next. While a job waits for the journal to count
/// its start, its agent goes on to others, which ask in their turn. Without bounds a start of each
/// of them would be counted, and its upload be in memory, before the first has ended; and one that
/// ends the process would take an attempt from all.
///
/// So of each priority no more than `most_at_a_time` are under way, in the order in which they have
/// asked. Programs, of which only so many run at a time, share as many places, and keep them until
/// they have run: others would only wait for these, with their uploads in memory, and lose an
/// attempt with the process. The most urgent one gets the next place. Of suspects, which have lost
/// an attempt with its process, as they may have ended it, one of each priority is under way at a
/// time, also while it waits for something of its own. What is under way runs as the agents have
/// it.
///
/// Thread: the network's.   Cost: of a start, a step for each signal of the jobs that ask.
class StartQueue {
 public:
  /// Enough for agents to be busy while the disk takes some milliseconds for a start.
  static constexpr std::size_t most_at_a_time = 32;

  /// Whether the job has lost an attempt with its process.
  [[nodiscard]] static bool is_suspect(const Job& job) noexcept;

  /// To be held from a job's start until it has run, or waits for something of its own if it is no
  /// program.
  using Place = std::shared_ptr<void>;
  struct Places {
    Place to_run;
    Place of_suspect;  ///< null of others; to be held until the attempt has ended
  };
  using Start = std::function<void(Places)>;

  StartQueue() = default;
  StartQueue(const StartQueue&) = delete;
  StartQueue& operator=(const StartQueue&) = delete;

  /// Calls `start` once the job's turn has come, unless it has ended before.
  ///
  /// Errors: std::bad_alloc.
  void ask(const std::shared_ptr<const Job>& job, Start start);

  /// Takes a place for a job that need not ask; null when others of its priority ask, or are being
  /// started, or have all places.   Errors: std::bad_alloc.
  [[nodiscard]] Place take_at_once(heist::TaskPriority level);

  /// To be held while the journal is asked for a start that has been called.
  [[nodiscard]] Place being_started(heist::TaskPriority level) const noexcept {
    return being_started_.at(static_cast<std::size_t>(level));
  }

  /// To be called when a job that may have asked has got another priority of its own.
  ///
  /// Cost: a step for each job that asks.   Errors: std::bad_alloc; then it keeps its old turn.
  void move(const std::shared_ptr<const Job>& job);

  /// To be called when a signal has got another priority.
  void start_some() noexcept;

 private:
  struct Asking {
    std::uint64_t order;
    std::weak_ptr<const Job> job;
    Start start;
  };
  /// Jobs of one priority, whatever it is at the time, in the order in which they have asked.
  struct Line {
    std::shared_ptr<const SignalGroup> group;  ///< whose priority it has; null: `fixed`
    heist::TaskPriority fixed;
    heist::TaskPriority ceiling;
    bool are_suspects;      ///< they have lost an attempt
    std::size_t at_a_time;  ///< of the jobs' kinds; more than 0 is that of programs
    std::deque<Asking> jobs;

    /// No higher than its jobs run, so that they take no places of more urgent ones.
    [[nodiscard]] std::size_t level() const noexcept {
      return static_cast<std::size_t>(std::min(group ? group->priority() : fixed, ceiling));
    }
  };
  /// Places that jobs share: those of a priority, those of its suspects, or those of all programs.
  enum class Of : std::uint8_t { priority, suspects, programs };
  using Row = std::pair<Of, std::size_t>;  ///< with the priority, which is 0 for all programs
  using UnderWay = std::map<Row, std::size_t>;
  static constexpr Row of_programs{Of::programs, 0};

  Line& line_of(const Job& job);
  [[nodiscard]] std::size_t under_way(const Row& row) const noexcept;
  [[nodiscard]] bool has_places(const Line& line) const noexcept;
  [[nodiscard]] static bool is_before(const Line& line, const Line& other) noexcept;
  [[nodiscard]] Line* next_line() noexcept;
  [[nodiscard]] Places take_places(const Line& line);
  [[nodiscard]] Place take_place(const Row& row);
  void start_first(Line& line) noexcept;
  void drop_ended() noexcept;

  std::list<Line> lines_;
  std::uint64_t asked_ = 0;
  bool is_starting_ = false;
  /// Alone has it, so places that outlive this find that.
  const std::shared_ptr<UnderWay> under_way_ = std::make_shared<UnderWay>();
  /// By priority: they are shared as often as starts are under way, and once by this.
  const std::array<Place, 3> being_started_{std::make_shared<int>(), std::make_shared<int>(),
                                            std::make_shared<int>()};
};

}  // namespace heistd
