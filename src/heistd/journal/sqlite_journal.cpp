#include <heistd/journal/sqlite_journal.hpp>
#include <heistd/journal/sqlite_schema.hpp>
#include <new>
#include <type_traits>
#include <utility>

namespace heistd {
namespace {

using Effect = JobJournal::Effect;
using Ended = JobJournal::Ended;

/// A request with its answer to come. `Apply` gives a value of type T, or throws.
template <class T, class Apply>
class TaskOf final : public JournalTask {
 public:
  TaskOf(Apply apply, heist::Resolver<JournalResult<T>> resolver)
      : apply_(std::move(apply)), resolver_(std::move(resolver)) {}
  void apply() override { result_ = apply_(); }
  void refuse(JournalError error) noexcept override { result_ = std::move(error); }
  void answer() noexcept override { resolver_.resolve(std::move(result_)); }

 private:
  Apply apply_;
  JournalResult<T> result_;
  heist::Resolver<JournalResult<T>> resolver_;
};

/// The task that gives what `apply` does, and the promise of that.
template <class Apply>
auto task_of(Apply apply) {
  using T = std::invoke_result_t<Apply&>;
  auto answer = heist::Promise<JournalResult<T>>::with_resolver();
  return std::pair(std::make_unique<TaskOf<T, Apply>>(std::move(apply), std::move(answer.resolver)),
                   std::move(answer.promise));
}

template <class Apply>
auto post_to(JournalThread& thread, Apply apply) {
  auto [task, answer] = task_of(std::move(apply));
  thread.post(std::move(task));
  return std::move(answer);
}

/// A first attempt that a note beside the database counts.
class NotedAttempt final : public JobJournal::FirstAttempt {
 public:
  NotedAttempt(RunningAttempts& attempts, JobId id) : attempts_(attempts), id_(std::move(id)) {}
  void count() override { attempts_.begin(id_, first_attempt); }
  void take_back() noexcept override { attempts_.take_back(id_, first_attempt); }

 private:
  RunningAttempts& attempts_;
  const JobId id_;
};

void do_each(const JournalThread::Tasks& tasks) noexcept {
  for (const auto& task : tasks) do_alone(*task);
}

}  // namespace

SqliteJournal::SqliteJournal(const std::filesystem::path& directory, JournalBounds bounds,
                             JournalClock clock)
    : clock_(std::move(clock)),
      directory_(directory),
      written_(open_for_writing(directory_)),
      read_(open_another(directory_, SqliteDatabase::Access::read)),
      started_(open_another(directory_, SqliteDatabase::Access::read)),
      checkpoints_(written_, open_another(directory_, SqliteDatabase::Access::write)),
      attempts_(directory_.path()),
      writes_(written_, bounds, attempts_, recent_),
      reads_(read_, attempts_),
      starts_(started_, attempts_),
      commit_(
          written_, [this] { writes_.note_commit(); }, [this] { writes_.note_roll_back(); }),
      writer_("heistd-journal",
              [this](JournalThread::Tasks tasks) { commit_.run(std::move(tasks), writer_); }),
      reader_("heistd-reads", [](const JournalThread::Tasks& tasks) { do_each(tasks); }) {}

template <class Apply>
auto SqliteJournal::write(Apply apply) {
  return post_to(writer_, std::move(apply));
}

/// Counts those that come late.
template <class Apply>
auto SqliteJournal::end_attempt(Apply apply) {
  return write([this, apply = std::move(apply)] {
    auto effect = apply();
    // relaxed: only a number.
    if (effect == Effect::late) late_ends_.fetch_add(1, heist::detail::sync::relaxed);
    return effect;
  });
}

template <class Apply>
auto SqliteJournal::read(Apply apply) {
  return post_to(reader_, std::move(apply));
}

JobJournal::Answer<JobJournal::Submitted> SqliteJournal::submit(NewJob job) {
  return write([this, job = std::move(job), now = clock_()] { return writes_.submit(job, now); });
}

JobJournal::Answer<std::vector<JobJournal::Submitted>> SqliteJournal::submit_all(
    std::vector<NewJob> jobs) {
  return write([this, jobs = std::move(jobs), now = clock_()] {
    std::vector<Submitted> submitted;
    for (const auto& job : jobs) submitted.push_back(writes_.submit(job, now));
    return submitted;
  });
}

/// A job that was accepted a moment ago need not be read.
JobJournal::Answer<std::optional<JobJournal::Started>> SqliteJournal::start(
    JobId id, heist::TaskPriority priority) {
  auto upload = recent_.take(id);
  auto [task, answer] = task_of([this, id = std::move(id), upload = std::move(upload)]() mutable {
    return upload ? starts_.start_first(id, std::move(*upload)) : starts_.start(id);
  });
  starter_.post(priority, std::move(task));
  return std::move(answer);
}

std::optional<JobJournal::FirstStarted> SqliteJournal::take_first_start(const JobId& id) {
  auto attempt = std::make_unique<NotedAttempt>(attempts_, id);
  auto upload = recent_.take(id);
  if (!upload) return std::nullopt;
  return FirstStarted{std::move(*upload), std::move(attempt)};
}

JobJournal::Answer<Ended> SqliteJournal::complete(JobId id, Attempt attempt, StoredResult result) {
  return end_attempt([this, id = std::move(id), attempt, result = std::move(result),
                      now = clock_()] { return writes_.complete(id, attempt, result, now); });
}

JobJournal::Answer<Ended> SqliteJournal::fail(
    JobId id, Attempt attempt, StoredError error,
    std::optional<std::chrono::milliseconds> retry_after) {
  return end_attempt(
      [this, id = std::move(id), attempt, error = std::move(error), retry_after, now = clock_()] {
        return writes_.fail(id, attempt, error, retry_after, now);
      });
}

JobJournal::Answer<Effect> SqliteJournal::release(JobId id, Attempt attempt) {
  return end_attempt([this, id = std::move(id), attempt] { return writes_.release(id, attempt); });
}

JobJournal::Answer<Ended> SqliteJournal::abort(JobId id, StoredError why) {
  return write([this, id = std::move(id), why = std::move(why), now = clock_()] {
    return writes_.abort(id, why, now);
  });
}

JobJournal::Answer<Effect> SqliteJournal::set_priority(JobId id, heist::TaskPriority priority) {
  return write([this, id = std::move(id), priority] { return writes_.set_priority(id, priority); });
}

JobJournal::Answer<Effect> SqliteJournal::requeue(JobId id) {
  return write([this, id = std::move(id), now = clock_()] { return writes_.requeue(id, now); });
}

JobJournal::Answer<Effect> SqliteJournal::purge(JobId id) {
  return write([this, id = std::move(id)] { return writes_.purge(id); });
}

JobJournal::Answer<JobJournal::Reclaimed> SqliteJournal::reclaim(Backoff backoff) {
  return write([this, backoff = std::move(backoff), now = clock_()] {
    return writes_.reclaim(backoff, now);
  });
}

JobJournal::Answer<Effect> SqliteJournal::set_signal(std::string client, std::string name,
                                                     heist::TaskPriority priority) {
  return write([this, client = std::move(client), name = std::move(name), priority] {
    return writes_.set_signal(client, name, priority);
  });
}

JobJournal::Answer<Ended> SqliteJournal::drop_signal(std::string client, std::string name) {
  return write([this, client = std::move(client), name = std::move(name), now = clock_()] {
    return writes_.drop_signal(client, name, now);
  });
}

JobJournal::Answer<Effect> SqliteJournal::set_pause(StoredPause what, bool on,
                                                    heist::TaskPriority signal_priority) {
  return write([this, what = std::move(what), on, signal_priority] {
    return writes_.set_pause(what, on, signal_priority);
  });
}

JobJournal::Answer<std::size_t> SqliteJournal::trim() {
  return write([this, now = clock_()] { return writes_.trim(now) + writes_.drop_old_keys(now); });
}

JobJournal::Answer<std::vector<StoredPause>> SqliteJournal::pauses() {
  return read([this] { return reads_.pauses(); });
}

JobJournal::Answer<std::vector<StoredSignal>> SqliteJournal::signals() {
  return read([this] { return reads_.signals(); });
}

JobJournal::Answer<std::optional<StoredJob>> SqliteJournal::find(JobId id) {
  return read([this, id = std::move(id), now = clock_()] { return reads_.find(id, now); });
}

JobJournal::Answer<std::size_t> SqliteJournal::count_unfinished() {
  return read([this] { return reads_.count_unfinished(); });
}

JobJournal::Answer<std::vector<StoredJob>> SqliteJournal::load_unfinished(AcceptanceOrder after,
                                                                          std::size_t most) {
  return read(
      [this, after, most, now = clock_()] { return reads_.load_unfinished(after, most, now); });
}

JobJournal::Answer<std::vector<StoredJob>> SqliteJournal::load_ended(std::string client,
                                                                     EndPlace before,
                                                                     std::size_t most) {
  return read([this, client = std::move(client), before, most, now = clock_()] {
    return reads_.load_ended(client, before, most, now);
  });
}

JobJournal::Answer<JobPage<StoredJob>> SqliteJournal::list(std::string client, JobQuery query) {
  return read([this, client = std::move(client), query = std::move(query), now = clock_()] {
    return reads_.list(client, query, now);
  });
}

JobJournal::Answer<std::string> SqliteJournal::read_payload(JobId id, ByteRange range) {
  return read([this, id = std::move(id), range] { return reads_.payload_part(id, range); });
}

JobJournal::Answer<std::string> SqliteJournal::read_result(JobId id, ByteRange range) {
  return read([this, id = std::move(id), range] { return reads_.result_part(id, range); });
}

}  // namespace heistd
