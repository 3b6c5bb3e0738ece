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
/// A request of which the answer was lost is made again, and knows it, before all others.
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

  PostgresRequests(PostgresSession& session, Clock clock)
      : session_(session), clock_(std::move(clock)) {}

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
    bool is_again = false;
  };

  Step& open_step();
  void go_on();
  void send(Step step);
  void send(std::vector<Submission> submissions, bool again);
  void send(std::vector<Completion> completions, bool again);
  void send(Other other, bool again);
  template <class Answer>
  void ask(PostgresCall call, Step step, Answer answer);
  static void refuse(Step& step, const PostgresError& error) noexcept;

  PostgresSession& session_;
  const Clock clock_;
  bool is_closed_ = false;
  std::size_t under_way_ = 0;  ///< calls
  std::deque<Step> unknown_;   ///< of which the answers were lost
  std::deque<Step> waiting_;
};

}  // namespace heistd
