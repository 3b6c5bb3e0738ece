// PostgresRequests: what a journal asks the database for, gathered.
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <heistd/postgresql/held_jobs.hpp>
#include <heistd/postgresql/postgres_jobs.hpp>
#include <heistd/postgresql/postgres_session.hpp>
#include <optional>
#include <vector>

namespace heistd {

/// While something is under way, requests wait; then all of them are sent. Those that accept jobs
/// are one statement then, and so are those that complete attempts: one for many costs a fraction
/// of one for each. So submits may take effect before ends that were asked for earlier, which
/// nobody can tell from the answers: a job that is ended was accepted by then.
///
/// A request of which the answer was lost is made again, and knows it, before all others: a few
/// times, until its outcome is told to be unknown. So it is when it fails then, as the first one
/// may have been done.
///
/// Statements and what waits are bounded, as batches and waiting calls of a session are.
///
/// Thread: the session's.   Errors: std::bad_alloc from the calls; nothing was asked for then.
/// Lifetime: what is called does not destroy it. It ends with its session, after that.
class PostgresRequests {
 public:
  /// The time that the database is to go by; empty: its own.
  using Clock = std::function<std::optional<SystemTime>()>;
  template <class T>
  using Result = boost::system::result<T, PostgresError>;

  struct Submission {
    std::vector<NewJob> jobs;
    std::function<void(Result<std::vector<JobJournal::Submitted>>)> done;
  };
  struct Completion {
    HeldJob job;
    StoredResult result;
    std::function<void(Result<bool>)> done;  ///< whether it took effect
  };
  struct Other {
    /// Makes the call; `again`: it was sent before, and the answer was lost.
    std::function<PostgresCall(bool again)> call;
    PostgresSession::Done done;
  };

  PostgresRequests(PostgresSession& session, const PostgresLimits& limits, Clock clock)
      : session_(session), limits_(limits), clock_(std::move(clock)) {}

  void ask(Submission submission);
  void ask(Completion completion);
  void ask(Other other);

  /// Sends nothing any more; to be called before the session ends.
  void close() noexcept { is_closed_ = true; }
  /// Refuses what was not answered.
  ~PostgresRequests();
  PostgresRequests(const PostgresRequests&) = delete;
  PostgresRequests& operator=(const PostgresRequests&) = delete;

 private:
  struct Step {
    std::vector<Submission> submissions = {};
    std::vector<Completion> completions = {};
    std::optional<Other> other = {};
    std::size_t size = 0;   ///< jobs, or calls
    std::size_t bytes = 0;  ///< of payloads and results
    unsigned losses = 0;    ///< answers that were lost
  };

  [[nodiscard]] bool is_full() const noexcept { return waiting_size_ >= limits_.max_waiting; }
  [[nodiscard]] PostgresError too_many_waiting() const;
  Step& open_step(std::size_t size, std::size_t bytes);
  void go_on();
  void send(Step step);
  void send(std::vector<Submission> submissions, unsigned losses);
  void send(std::vector<Completion> completions, unsigned losses);
  void send(Other other, unsigned losses);
  template <class Ask>
  void under_way(Ask ask);
  template <class Answer>
  void ask(PostgresCall call, Step step, Answer answer);
  template <class Answer>
  static void tell(Step& asked, PostgresRows& rows, const Answer& answer);
  void send_again_or_refuse(Step step, PostgresError error);
  static void refuse(Step& step, const PostgresError& error) noexcept;

  PostgresSession& session_;
  const PostgresLimits limits_;
  const Clock clock_;
  bool is_closed_ = false;
  std::size_t under_way_ = 0;  ///< calls
  std::deque<Step> waiting_;
  std::size_t waiting_size_ = 0;  ///< that of its steps
};

}  // namespace heistd
