// JobService: everything clients do with jobs, without HTTP.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <heist/detail/sync.hpp>
#include <heist/promise.hpp>
#include <heist/scheduler.hpp>
#include <heistd/backoff.hpp>
#include <heistd/bulk_reader.hpp>
#include <heistd/client.hpp>
#include <heistd/job.hpp>
#include <heistd/job_keeper.hpp>
#include <heistd/job_log.hpp>
#include <heistd/job_request.hpp>
#include <heistd/job_run.hpp>
#include <heistd/kind_table.hpp>
#include <heistd/start_queue.hpp>
#include <heistd/turns.hpp>
#include <list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heistd {

/// Posts jobs on the agents and keeps their records.
///
/// Thread: the network's, which runs the io_context.
class JobService {
 public:
  using Network = boost::asio::io_context::executor_type;

  /// With a keeper, jobs begin and end when a journal has it; it lives longer than this. The log
  /// is told of each job that ends; see JobLog.   Errors: as of JobLog.
  JobService(heist::Scheduler scheduler, const Network& network, JobKeeper* keeper = nullptr,
             const std::string& log = {})
      : scheduler_(std::move(scheduler)), network_(network), keeper_(keeper), log_(log) {
    if (keeper_ != nullptr) {
      keeper_->on_followers_aborted(
          [this](const JobJournal::SharedFollowers& aborted) { on_followers_aborted(aborted); });
    }
  }

  [[nodiscard]] JobLog& log() noexcept { return log_; }

  /// Null without a journal that lasts.
  [[nodiscard]] JobKeeper* keeper() const noexcept { return keeper_; }

  /// To be called when the clients' limits are other ones. Without a journal jobs go to the agents
  /// at once, unless a client has a weight, or a bound of jobs that run.
  void apply_limits(const ClientTable& clients) noexcept;

  /// Posts a job, or has it wait for its turn.
  ///
  /// Errors: 503 "queue_full", "too_many_signals", "shutting_down" or "out_of_memory".
  [[nodiscard]] Result<std::shared_ptr<Job>> submit(Client& client, const JobRequest& request,
                                                    Blocks body, Budget::Ticket ticket);

  /// The same with a ticket that has what reserve() gives it.
  [[nodiscard]] Result<std::shared_ptr<Job>> submit_reserved(Client& client,
                                                             const JobRequest& request, Blocks body,
                                                             Budget::Ticket ticket);

  /// Has agents read a request's lines; resolved once they have, or will not.
  ///
  /// Errors: 503 "shutting_down".
  [[nodiscard]] Result<heist::Promise<void>> read_bulk(const Client& client,
                                                       const std::shared_ptr<BulkReader>& reader);

  /// Lets the ticket have what a job needs beside its body.
  ///
  /// Errors: 503 "queue_full", "shutting_down".
  [[nodiscard]] std::optional<Refusal> reserve(const JobRequest& request, std::size_t bytes,
                                               Budget::Ticket& ticket) const;

  /// Posts a job that the journal has, as submit() does, or has it wait for its turn, or to be
  /// claimed. Then there is a Job only if the request waits for its end, and else null. When it is
  /// refused, the journal still has it.   Precondition: there is a keeper.
  [[nodiscard]] Result<std::shared_ptr<Job>> submit_kept(Client& client, const JobRequest& request,
                                                         const JobId& id, std::size_t bytes,
                                                         Budget::Ticket ticket);

  /// The same for a job of an earlier server, or a dead one that is queued again; it waits until
  /// post_waiting() is called.   Errors: std::bad_alloc.
  void restore(Client& client, const Kind& kind, const StoredJob& stored);
  /// Posts the jobs of all clients whose turn has come, once the journal has read them; more of
  /// them follow as these start.
  void post_waiting(Client& client) noexcept;
  /// The Job of one that waits, or has been posted meanwhile, so that somebody may wait for its
  /// end. It keeps its turn. Null when it does neither.   Errors: std::bad_alloc.
  [[nodiscard]] std::shared_ptr<Job> bring(Client& client, const StoredJob& stored);
  /// Aborts a job that waits, if it does, of which the journal knows already.
  void abort_waiting(Client& client, const JobId& id);
  /// Has listeners and the log know of a job that ended while it waited.   Errors: std::bad_alloc.
  void tell_end_of_waiting(Client& client, const JobSummary& job);
  /// Gives a job that waits, if it does, its new priority.   Errors: std::bad_alloc.
  void move_waiting(Client& client, const JobId& id, heist::TaskPriority priority);
  /// A job that an earlier server has finished.   Errors: std::bad_alloc.
  std::shared_ptr<Job> restore_finished(Client& client, const Kind& kind, const StoredJob& stored,
                                        std::shared_ptr<const JobResult> result);

  // Of a queue that servers share (ADR 0081): a job is of this server from when it has claimed it.

  /// `claimable` is called when there may be something to claim: a job has come, or one has ended
  /// here. It throws nothing.   Lifetime: the kinds live longer than this.
  void share_queue(const KindTable& kinds, std::function<void()> claimable) {
    kinds_ = &kinds;
    claimable_ = std::move(claimable);
  }
  /// Takes a job that this server has claimed, to start it as one of a journal of its own: it waits
  /// until post_waiting() is called.   Errors: std::bad_alloc.
  void take_claimed(Client& client, const Kind& kind, const StoredJob& stored);
  /// Whether a job that this server has claimed is to stay here, as it runs, or waits for nothing
  /// but its turn. Else it is to be left to others, and released.
  [[nodiscard]] bool keeps_claim(Client& client, const JobId& id) const;
  /// Jobs that somebody waits for here, and that this server has not claimed.
  [[nodiscard]] std::vector<JobId> watched() const;
  /// A job is not this server's any more: it stops here, and nobody is told that it has ended. Who
  /// waits for its end goes on doing so.   Errors: std::bad_alloc.
  void leave_to_others(Client& client, const JobId& id);
  /// The attempt is not this server's any more, as others have ended it or the job.
  void lose_attempt(Client& client, const JobId& id, Attempt attempt);
  /// Others have ended a job that is watched; the journal says how.   Errors: std::bad_alloc.
  void hear_of(Client& client, const JobId& id);
  /// The priority of a job that this server has claimed, or of its signal, which others may have
  /// set.   Errors: std::bad_alloc.
  void note_priority(Client& client, const JobId& id, heist::TaskPriority priority);
  /// What is paused, which others may have changed.   Errors: std::bad_alloc.
  void note_pauses(const ClientTable& clients, const std::vector<StoredPause>& pauses);
  /// Whose job it is, if this server has it; else null.
  [[nodiscard]] static Client* client_of(const ClientTable& clients, const JobId& id);

  /// What a client's job is for one that is to start after it.
  enum class Predecessor : std::uint8_t {
    unknown,  ///< to memory; a journal may know it
    unfinished,
    done,
    failed,  ///< or aborted, or dead
  };
  [[nodiscard]] Predecessor predecessor(Client& client, const JobId& id);

  /// What one more unfinished job of the client takes, if it may have that.
  ///
  /// Errors: 503 "queue_full", "too_many_signals", "shutting_down".
  [[nodiscard]] Result<Budget::Ticket> take_room(Client& client, const JobRequest& request,
                                                 std::size_t bytes) const;
  /// Whether uploads count for the disk of a journal that this server alone has.
  [[nodiscard]] bool stores_uploads() const noexcept { return keeper_ != nullptr && !is_shared(); }
  [[nodiscard]] static Refusal too_many_stored();
  /// Whether it could have one more that is as small as can be.
  [[nodiscard]] bool has_room_for_any(const Client& client) const;
  /// Has the journal queue a dead job again, and says what that answers. Whoever hears of it, the
  /// job goes on then, unless the server ends: without memory for that, it is tried again.
  ///
  /// Errors: std::bad_alloc; the journal was not asked then.
  JobJournal::Answer<JobJournal::Effect> requeue(Client& client, const Kind& kind,
                                                 const StoredJob& dead, Budget::Ticket room);

  /// Has an agent check the parameters, at the client's own ceiling. The promise is resolved once
  /// the verdict stands among those of the client; when there was no memory to find out, without.
  ///
  /// Errors: 503 "queue_full", "shutting_down"; std::bad_alloc.
  [[nodiscard]] Result<heist::Promise<void>> check_parameters(Client& client,
                                                              const JobRequest& request);

  /// How what a client has sent or been given is freed.
  [[nodiscard]] BlockDisposal disposal_for(const Client& client) const;

  /// The job with that id, or null.
  [[nodiscard]] std::shared_ptr<Job> find(Client& client, const JobId& id);

  /// Aborts a job; nothing of it starts any more, and its task leaves the agents' queues. A
  /// finished one stays as it is. A journal that lasts has the abort already.
  void abort(Client& client, Job& job, std::string_view reason);

  /// Aborts a job whose abort no journal knows of yet: it has ended when the journal has that, and
  /// nobody sees it before. `reason` is a text that is always there; `why` becomes the job's
  /// error, if it has one.
  ///
  /// Errors: std::bad_alloc.
  void give_up(Client& client, Job& job, std::string_view reason,
               std::optional<JobFailure> why = {});

  /// Aborts the jobs of a signal name and frees the name; says how many jobs, or nothing for no
  /// such name. Those that are more than a batch are told in later steps of the network thread, but
  /// count as aborted from now on.
  std::optional<std::size_t> abort_group(Client& client, std::string_view name);

  /// Sets the priority of a signal name's jobs, the waiting ones too; makes the name if need be.
  /// Those that are more than a batch follow in later steps of the network thread, in their order.
  ///
  /// Errors: 503 "too_many_signals".
  [[nodiscard]] Result<std::shared_ptr<SignalGroup>> put_group(Client& client,
                                                               std::string_view name,
                                                               heist::TaskPriority priority);

  /// From now on no job of the kind, or of the signal, starts, or they may start again. A signal is
  /// made if need be, and stays until it is deleted.
  ///
  /// Errors: std::bad_alloc; 503 "too_many_signals".
  void set_pause(Client& client, const Kind& kind, bool on);
  [[nodiscard]] Result<std::shared_ptr<SignalGroup>> set_pause(Client& client,
                                                               std::string_view name, bool on);

  /// To be called after each event, with all clients: what is to start after a pause and could not
  /// is looked at again. False: it is to be called again soon, as some of that is left.
  [[nodiscard]] bool recover(const ClientTable& clients);

  /// Sets the priority of an unfinished job that has one of its own, whether it waits or runs.
  ///
  /// Errors: std::bad_alloc.
  void set_priority(Client& client, Job& job, heist::TaskPriority priority);

  /// Why a signal of that name cannot be made; nothing when it can, is there already, or has no
  /// name.
  ///
  /// Errors: 503 "too_many_signals".
  [[nodiscard]] static std::optional<Refusal> refuse_signal(const Client& client,
                                                            std::string_view name);

  /// From now on every new job is refused.
  void start_shutdown() noexcept { shutting_down_.store(true, heist::detail::sync::relaxed); }
  /// Thread: any.
  [[nodiscard]] bool shutting_down() const noexcept {
    return shutting_down_.load(heist::detail::sync::relaxed);
  }

  /// Aborts a batch of jobs, of any clients; says how many, which is none when all have ended. With
  /// a journal they go on in the next server. `reason` is a text that is always there.
  std::size_t abort_some(const ClientTable& clients, std::string_view reason);

  /// Whether there are jobs that run, or could. They may wait for something else than an agent, so
  /// that the agents have nothing to do now.
  [[nodiscard]] bool has_runnable_jobs() const noexcept {
    return runnable_->any() || (keeper_ == nullptr && (turns_.any_in_line() || settling_ > 0));
  }

  /// Jobs that have finished since the start, whatever way but by an abort.
  [[nodiscard]] std::size_t finished_count() const noexcept { return finished_; }

 private:
  /// What a job has that starts without the network.
  struct AtOnce {
    Blocks upload;                                      ///< until the job is posted
    std::unique_ptr<JobJournal::FirstAttempt> attempt;  ///< until the job is posted
    StartQueue::Place place;                            ///< until it has run
    std::optional<JobLine::Share> posted;               ///< until it has run
  };
  std::shared_ptr<AtOnce> take_at_once(const Client& client, const JobRequest& request,
                                       const JobId& id, const std::shared_ptr<JobLine>& line);
  [[nodiscard]] static bool is_behind_others(const Client& client, heist::TaskPriority priority);
  static std::shared_ptr<JobLine> line_of(Client& client, const Job& job,
                                          std::optional<heist::TaskPriority> fixed);
  static void enter_asking(Client& client, Job& job);
  static void hold_those_at_once(Client& client);
  static void leave_at_once(Client& client, Job& job) noexcept;
  void start_at_once(Client& client, Job& job, std::shared_ptr<AtOnce> at_once,
                     const Parameters& parameters, JobStart& start);
  static void hear_of_first_start(Client& client, Job& job) noexcept;

  /// What a job takes beside its body.
  static std::size_t needed_bytes(const JobRequest& request, std::size_t bytes);
  Result<std::shared_ptr<Job>> begin(Client& client, const JobRequest& request, JobId id,
                                     std::size_t bytes, Blocks body, Budget::Ticket ticket,
                                     std::optional<Clock::time_point> runnable_at = std::nullopt,
                                     std::shared_ptr<AtOnce> at_once = nullptr);
  static Result<std::shared_ptr<Job>> make_job(Client& client, const JobRequest& request, JobId id,
                                               std::size_t bytes);
  static void enter(Client& client, const std::shared_ptr<Job>& job, bool has_delay);
  static void leave(Client& client, Job& job);
  static void count_in(Job& job, bool has_delay);
  static void count_out(Job& job);
  static void count_anew(Job& job, Clock::time_point runnable_at);
  static void take_back(Client& client, Job& job);
  void post(Client& client, Job& job, const JobRequest& request, Blocks body, Budget::Ticket ticket,
            std::shared_ptr<AtOnce> at_once = nullptr);
  struct Opening;
  void put_gate(Client& client, Job& job, const Parameters& parameters, JobStart& start);
  static std::shared_ptr<Job> waiting_for(Client& client, const Opening& opening);
  void ask_to_run(Client& client, const std::shared_ptr<Opening>& opening);
  void open(Client& client, const std::shared_ptr<Opening>& opening, StartQueue::Places places);
  void begin_attempt(Job& job, OpenedJob opened, Opening& opening, StartQueue::Places places);
  void tell_end(Client& client, const Job& job, JobEnd end);
  void tell_retry(Client& client, const Job& job, const JobFailure& why, const JobTimes& times);
  Result<std::shared_ptr<JobLine>> line_of(Client& client, const std::string& signal_name,
                                           std::optional<heist::TaskPriority> priority,
                                           const Kind& kind);
  Result<std::shared_ptr<Job>> submit_follower(Client& client, JobRequest request, Blocks body,
                                               Budget::Ticket ticket);
  Result<std::shared_ptr<Job>> submit_judged(Client& client, const JobRequest& request, Blocks body,
                                             Budget::Ticket ticket);
  void end_followers(Client& client, const JobId& id, bool is_done) noexcept;
  JobKeeper::Retold end_followers_later(Client& client, const JobId& id);
  void settle_followers(Client& client) noexcept;
  bool settle_later(Client& client) noexcept;
  bool settle_follower(Client& client);
  void release_follower(Client& client, const JobId& id);
  void abort_follower(Client& client, Job& job, const StoredError& why);
  void ask_about_follower(Client& client, const JobId& id);
  void on_followers_aborted(const JobJournal::SharedFollowers& aborted) noexcept;
  void note_aborts(Client& client, const JobJournal::SharedFollowers& aborted,
                   std::size_t next) noexcept;
  void note_abort(Client& client, const JobId& follower) noexcept;
  bool hears_of_predecessor(Client& client, const JobId& follower) noexcept;
  void on_follower(Client& client, const JobId& id, const std::optional<StoredJob>& stored);
  Result<std::shared_ptr<Job>> submit_by_turns(Client& client, const JobRequest& request,
                                               Blocks body, Budget::Ticket ticket);
  std::shared_ptr<Job> line_up(Client& client, const JobRequest& request,
                               const std::shared_ptr<JobLine>& line, Blocks body,
                               Budget::Ticket ticket);
  void post_lined_up(Client& client, const JobId& id);
  void post_lined_up(Client& client, Job& job, LinedUpJob& lined_up);
  static std::shared_ptr<Job> bring(Client& client, JobRequest request, const JobId& id,
                                    std::size_t bytes);
  static void note_attempts(Client& client, Job& job, const StoredJob& stored);
  /// A dead job that is queued again.
  struct Requeued {
    Client& client;
    const Kind& kind;
    StoredJob job;        ///< as it is then
    Budget::Ticket room;  ///< until it waits
    std::optional<JobJournal::Answer<JobJournal::Effect>> answer;
  };
  using RequeuedJobs = std::list<Requeued>;
  void hear_of_requeue(RequeuedJobs::iterator job) noexcept;
  void on_requeue(RequeuedJobs::iterator job,
                  const JournalResult<JobJournal::Effect>& effect) noexcept;
  void restore_requeued() noexcept;
  bool restore(const Requeued& requeued) noexcept;
  static Job::End end_of(const StoredJob& stored, std::shared_ptr<const JobResult> result);
  void move_group(Client& client, std::string_view name, const std::shared_ptr<SignalGroup>& group,
                  heist::TaskPriority priority);
  static void forget_waiting(Client& client, const JobId& id);
  /// A batch of the jobs of a deleted signal that are records only.
  struct Dropping {
    Client& client;
    std::shared_ptr<SignalGroup> group;
    /// Of how many of them the journal has still to tell the log; null: it is not asked.
    std::shared_ptr<std::size_t> unanswered;
  };
  std::shared_ptr<std::size_t> count_answers() const noexcept;
  void log_dropped(const Dropping& batch, const WaitingJob& job) noexcept;
  bool ask_about_dropped(const Dropping& batch, const WaitingJob& job) noexcept;
  void read_waiting(Client& client, const JobId& id);
  void post_read(Client& client, const JobId& id, const std::optional<StoredJob>& stored);
  void post_stored(Client& client, const StoredJob& stored);
  void wake_at(Client& client, Clock::time_point time);
  void wake_later(Client& client);
  void wake_soon(Client& client) noexcept;
  static void renew_controller(Job& job);
  void try_again(Client& client, Job& job, const StoredJob& stored);
  void start_later(Client& client, Job& job, std::chrono::milliseconds pause);
  void start_anew(Client& client, Job& job, const std::optional<StoredJob>& stored,
                  std::chrono::milliseconds pause);
  void follow(Client& client, const Job& job, const heist::Promise<JobEnd>& end);
  void set_pause(Client& client, Pause& pause, bool on);
  static void hold_at_start(Job& job) noexcept;
  static void note_held(Job& job) noexcept;
  [[nodiscard]] bool must_be_held_too(const Client& client, const Job& job) const noexcept;
  static void take_new_turn(Client& client, Job& job) noexcept;
  void start_some_held(Client& client);
  void start_held_later(Client& client) noexcept;
  void note_posted_anew(Client& client, Job& job);
  void hold(Client& client, Job& job, std::shared_ptr<JobRun> run);
  void hold_at_gate(Client& client, Job& job, const std::shared_ptr<Opening>& opening);
  void put_in_held(Client& client, Job& job) noexcept;
  void start_held(Client& client) noexcept;
  void start_again(Client& client, Job& job);
  void put_off(Client& client, Job& job);
  Result<std::shared_ptr<Job>> submit_shared(Client& client, const JobRequest& request,
                                             const JobId& id, std::size_t bytes);
  std::shared_ptr<Job> watch(Client& client, const JobRequest& request, const JobId& id,
                             std::size_t bytes);
  std::shared_ptr<Job> watch(Client& client, const StoredJob& stored);
  static void stop_run(Job& job);
  void release_claim(Client& client, Job& job);
  void leave_to_others(Client& client, Job& job);
  void hear_of(Client& client, Job& job, const std::optional<StoredJob>& stored);
  void hear_of_done(Client& client, const Job& job, const StoredJob& stored);
  void hear_of_end(Client& client, Job& job, const StoredJob& stored,
                   std::shared_ptr<const JobResult> result);
  void tell_claimable() const {
    if (claimable_) claimable_();
  }
  void set_timer(Client& client, Job& job, Clock::time_point time,
                 void (JobService::*then)(Client&, Job&));
  void wait_for_timer(Client& client, Job& job, void (JobService::*then)(Client&, Job&));
  void expire(Client& client, Job& job);
  void expire_posted(Client& client, Job& job);
  void expire_waiting(Client& client, const JobId& id);
  void wake_some(Client& client);
  void leave_agents(Client& client, Job& job);
  void on_given_up(Client& client, const JobId& id, const std::optional<StoredJob>& stored,
                   std::string_view reason, std::optional<JobFailure> why);
  heist::Resolver<void> start_notice(Client& client, const Job& job);
  void time_out(Client& client, Job& job);
  std::shared_ptr<Job> find_run(Client& client, const JobId& id, std::uint64_t run) const;
  void abort_next_batch(Client& client, const std::shared_ptr<SignalGroup>& group);
  std::size_t drop_some(const Dropping& batch) noexcept;
  void follow_next_batch(Client& client, const std::shared_ptr<SignalGroup>& group);
  /// False: there is no memory for that.
  template <class Step>
  bool do_later(Step step) noexcept {
    try {
      boost::asio::post(network_, std::move(step));
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  void on_end(Client& client, const JobId& id, std::uint64_t run, const std::exception_ptr& error,
              JobEnd end);
  [[nodiscard]] bool is_shared() const noexcept {
    return keeper_ != nullptr && keeper_->is_shared();
  }
  [[nodiscard]] static LevelStats& level_of_end(Client& client, const Job& job);
  void end_job(Client& client, Job& job, JobEnd end);
  void finish(Client& client, Job& job, Job::End end);
  void finish_aborted(Client& client, Job& job, std::string_view reason,
                      std::optional<JobFailure> why = {});

  heist::Scheduler scheduler_;
  Network network_;
  JobKeeper* const keeper_;
  JobLog log_;
  Backoff backoff_;
  StartQueue starts_;
  Turns turns_;
  bool by_turns_ = false;             ///< without a journal jobs wait for their turns, too
  bool is_posting_ = false;           ///< those whose turn has come
  RequeuedJobs unheard_;              ///< of whose requeue nobody can hear yet, for want of memory
  RequeuedJobs requeuing_;            ///< of which the journal is still to answer
  const KindTable* kinds_ = nullptr;  ///< of a shared queue
  std::function<void()> claimable_;
  std::unordered_map<JobId, Client*> watched_;
  RequeuedJobs requeued_;  ///< for which there was no memory yet
  std::unordered_map<Client*, boost::asio::steady_timer> wakes_;  ///< for delayed jobs that wait
  const std::shared_ptr<RunnableJobs> runnable_ = std::make_shared<RunnableJobs>();
  bool aborts_all_ = false;   ///< since the server ends, without a journal
  bool starts_held_ = false;  ///< of some clients, too
  std::size_t settling_ = 0;  ///< later steps that are to settle_followers()
  std::size_t finished_ = 0;
  // relaxed: nothing else is passed on.
  heist::detail::sync::atomic<bool> shutting_down_{false};
};

}  // namespace heistd
