// ClientEvents: what a client is told of its jobs and signals while it listens.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <heist/priority.hpp>
#include <heistd/events/changed_jobs.hpp>
#include <heistd/events/event_log.hpp>
#include <heistd/job_id.hpp>
#include <heistd/level_stats.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

class Client;
class EventStream;
class Job;
struct JobSummary;
struct Kind;
class SignalGroup;

/// Makes events of a client's, as long as somebody listens, and for a while after that, so that who
/// comes again can go on. Otherwise telling it something costs a look at a pointer.
///
/// Thread: the network's.   Lifetime: as long as its client.
class ClientEvents {
 public:
  using Clock = std::chrono::steady_clock;
  /// How often listeners are told what has come up since.
  static constexpr std::chrono::milliseconds interval{100};
  /// How often they are told how many jobs wait and for how long, if that has changed.
  static constexpr std::chrono::seconds levels_interval{1};
  /// For how long events go on after the last listener has gone.
  static constexpr std::chrono::seconds patience{10};

  explicit ClientEvents(const Client& client) noexcept : client_(client) {}

  /// Where agents note what they have seen of the client's jobs.
  const std::shared_ptr<ChangedJobs> changed = std::make_shared<ChangedJobs>();

  /// A job was accepted, has another priority, or has ended.
  void job_changed(const Job& job) noexcept;
  /// The same of a job that waits for its turn, without a Job.
  void job_changed(const JobSummary& job) noexcept;
  void job_forgotten(const JobId& id) noexcept;
  /// More has happened to jobs than can be told.
  void missed() noexcept;
  /// How long a job had waited, which has ended now.
  void job_waited(heist::TaskPriority started_at, std::chrono::nanoseconds delay) noexcept;
  void signal_changed(std::string_view name, const SignalGroup& group) noexcept;
  void signal_deleted(std::string_view name) noexcept;
  /// It was paused or resumed.
  void kind_changed(const Kind& kind) noexcept;

  [[nodiscard]] bool is_open() const noexcept { return open_ != nullptr; }
  /// Somebody listens, from the event after the one with that id, if it is there, or from now on.
  ///
  /// Errors: std::bad_alloc.
  [[nodiscard]] std::unique_ptr<EventStream> listen(std::optional<std::string_view> last_id);
  /// To be called again and again while it is open.
  void beat(Clock::time_point now) noexcept;
  /// Ends all streams with a last event, which has the reason.
  void end_streams(std::string_view why) noexcept;

 private:
  friend class EventStream;
  /// What there is only while somebody listens.
  struct Open {
    Open();

    EventLog log;
    std::list<EventStream*> streams;
    std::size_t told = 0;                     ///< events since the last beat
    std::array<DurationHistogram, 3> delays;  ///< of the jobs that ended since the last levels
    std::string levels;                       ///< as they were told last
    Clock::time_point next_levels;
    Clock::time_point until;
    ChangedJobs::Jobs room = ChangedJobs::make_room();  ///< to be exchanged
  };

  template <class Make>
  void tell(std::string_view type, Make make) noexcept;
  template <class Make>
  void add(std::string_view type, Make make) noexcept;
  void tell_changed_jobs() noexcept;
  void tell_levels() noexcept;
  void tell_changed_levels() noexcept;
  void close() noexcept;

  const Client& client_;
  std::unique_ptr<Open> open_;
};

}  // namespace heistd
