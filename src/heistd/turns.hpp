// Turns: which client's waiting job is posted next.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <heist/priority.hpp>
#include <heistd/job_id.hpp>
#include <heistd/waiting_jobs.hpp>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace heistd {

class Client;
class Job;

/// Jobs of all clients that share places: those of one priority, and if only some of a kind run at
/// a time, of that kind.
struct Lane {
  heist::TaskPriority priority;
  const Kind* kind;  ///< that has a lane of its own, else null

  [[nodiscard]] auto operator<=>(const Lane&) const = default;
};

/// Few jobs of each lane are posted on the agents and have not started, which take them in that
/// order. So what decides between clients is whose job is posted next. Clients take turns: one of
/// weight 3 posts three jobs for each one of a client of weight 1, as long as both have some that
/// wait. One that had none for a while has saved up nothing.
///
/// Each turn ends the later for its client, the smaller its weight, and the client whose turns have
/// ended first has the next one (stride scheduling).
///
/// Thread: the network's.   Cost: of take() and must_wait(), a step for each line of all clients.
class Turns {
 public:
  /// Enough for agents to have another job at once while a journal is asked for more; or for all
  /// that run at a time to be followed at once.
  [[nodiscard]] static std::size_t places(const Lane& lane) noexcept {
    return lane.kind == nullptr ? JobLine::most_posted : 2 * lane.kind->at_a_time;
  }

  /// Its jobs may wait from now on.   Errors: std::bad_alloc.   Lifetime: longer than this.
  void add(Client& client);
  /// The one of that name, if it was added; else null.
  [[nodiscard]] Client* find(std::string_view name) const noexcept;

  /// Whether a job of this line is to wait for a turn: others of the client do so before it, or are
  /// to be woken as their delay is over, or are to be posted again after a pause, or enough are
  /// posted, or enough of the client run.
  [[nodiscard]] bool must_wait(const Client& client, const JobLine& line) const noexcept;
  /// Whether jobs of the same lane that a pause has held back are still to be posted, before all
  /// others.
  [[nodiscard]] static bool is_behind_held(const Client& client, const JobLine& line) noexcept;
  /// Whether such jobs have earlier turns than this one and come to agents after it, which has been
  /// posted at that time, or would be: it is to be held back, too, and to start behind them.
  [[nodiscard]] static bool is_ahead_of_held(const Client& client, const Job& job,
                                             WaitingJobs::TimePoint posted_at) noexcept;

  /// A job that had not to wait is posted, which is a turn.   Errors: std::bad_alloc.
  void note_posted(const Client& client, const JobLine& line);

  struct Turn {
    Client* client;
    JobId id;
  };
  /// The next job to be posted, if one may be; as of WaitingJobs::take().
  ///
  /// Errors: std::bad_alloc.
  [[nodiscard]] std::optional<Turn> take();

  /// Whether jobs wait whose delay is over, and which nothing holds up.
  [[nodiscard]] bool any_in_line() const noexcept;

 private:
  /// What may be posted next in a lane.
  struct Choice {
    Lane lane;
    std::size_t posted = 0;
    Client* client = nullptr;
    JobLine* line = nullptr;
  };
  /// When turns end, in turns of a client of weight 1.
  struct Ends {
    std::uint64_t now = 0;  ///< when the latest turn began
    std::map<const Client*, std::uint64_t> of_clients;
  };

  [[nodiscard]] std::vector<Choice> choices();
  void consider(Client& client, JobLine& line, bool may_go, std::vector<Choice>& choices) const;
  [[nodiscard]] std::size_t posted(const Lane& lane) const noexcept;
  [[nodiscard]] std::uint64_t begin_of_turn(const Client& client, const Lane& lane) const noexcept;

  std::vector<Client*> clients_;
  std::map<Lane, Ends> ends_;
};

}  // namespace heistd
