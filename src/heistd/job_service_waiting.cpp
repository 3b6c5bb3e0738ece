// How jobs that a journal keeps wait for their turn, and come to be posted.
#include <algorithm>
#include <heistd/job_service.hpp>
#include <heistd/job_summary.hpp>
#include <new>
#include <utility>

namespace heistd {
namespace {

/// How long it takes to try again what there was no memory for.
constexpr std::chrono::seconds retry_pause{1};

WaitingJobs::Times times_of(std::chrono::milliseconds delay,
                            std::optional<std::chrono::milliseconds> ttl) {
  const auto now = Clock::now();
  return {now + delay, ttl ? now + *ttl : WaitingJobs::TimePoint::max()};
}

void give_back(Budget::Ticket ticket) noexcept { const auto ends_here = std::move(ticket); }

}  // namespace

/// The line in which such jobs wait; the signal name may be empty.
///
/// Errors: 503 "too_many_signals"; std::bad_alloc.
Result<std::shared_ptr<JobLine>> JobService::line_of(Client& client, const std::string& signal_name,
                                                     std::optional<heist::TaskPriority> priority,
                                                     const Kind& kind) {
  turns_.add(client);
  std::shared_ptr<SignalGroup> group;
  if (signal_name.empty()) {
    if (!priority) priority = client.default_priority();
  } else {
    group = client.signals.find_or_make(signal_name, client.default_priority());
    if (!group) return *refuse_signal(client, signal_name);
  }
  return client.waiting.line_of(signal_name, group, priority,
                                priority ? client.counts_of(*priority) : group->counts, kind,
                                client.kind_pauses.of(kind));
}

Result<std::shared_ptr<Job>> JobService::submit_kept(Client& client, const JobRequest& request,
                                                     const JobId& id, std::size_t bytes,
                                                     Budget::Ticket ticket) {
  if (is_shared()) return submit_shared(client, request, id, bytes);
  auto stored = ticket.split_stored();
  try {
    const auto line = line_of(client, request.signal_name, request.priority, *request.kind);
    if (!line) return line.error();
    if (!request.follows && request.delay.count() == 0 && !turns_.must_wait(client, **line)) {
      turns_.note_posted(client, **line);
      auto at_once = take_at_once(client, request, id, *line);
      const bool has_to_ask = at_once == nullptr;
      auto begun = begin(client, request, id, bytes, {}, std::move(ticket), std::nullopt,
                         std::move(at_once));
      if (begun) (*begun)->unfinished->stored = std::move(stored);
      if (begun && has_to_ask) (*begun)->unfinished->posted.emplace(*line);
      return begun;
    }
    client.waiting.add(id, *line, times_of(request.delay, request.ttl),
                       request.follows ? request.after : JobId(), bytes);
    give_back(std::move(stored));
    // It may have ended since the journal was asked.
    if (request.follows && predecessor(client, request.after) != Predecessor::unfinished) {
      ask_about_follower(client, id);
    }
    give_back(std::move(ticket));
    auto job = request.wait.any() ? bring(client, request, id, bytes) : nullptr;
    if (job) client.events.job_changed(*job);
    post_waiting(client);
    return job;
  } catch (const std::bad_alloc&) {
    forget_waiting(client, id);
    return out_of_memory();
  }
}

void JobService::restore(Client& client, const Kind& kind, const StoredJob& stored) {
  const auto line = line_of(client, stored.signal_name, stored.priority, kind);
  if (!line) throw std::bad_alloc();  // the only reason, as its signal is there
  client.waiting.add(stored.id, *line, times_of(stored.delay, stored.ttl),
                     stored.follows ? stored.after : JobId(),
                     is_shared() ? 0 : static_cast<std::size_t>(stored.payload_bytes));
}

std::shared_ptr<Job> JobService::bring(Client& client, const StoredJob& stored) {
  if (auto posted = client.jobs.find(stored.id)) return posted;
  const auto* const waiting = client.waiting.find(stored.id);
  if (waiting == nullptr) return is_shared() ? watch(client, stored) : nullptr;
  auto job = bring(client, request_of(stored, waiting->line->kind), stored.id,
                   static_cast<std::size_t>(stored.payload_bytes));
  if (job) note_attempts(client, *job, stored);
  return job;
}

/// Without memory for that, it is as if there had never been a Job.
void JobService::note_attempts(Client& client, Job& job, const StoredJob& stored) {
  try {
    job.note_attempts(stored);
  } catch (const std::bad_alloc&) {
    take_back(client, job);
    throw;
  }
}

/// The job waits; null when its signal was deleted meanwhile, or the client's memory is used up.
std::shared_ptr<Job> JobService::bring(Client& client, JobRequest request, const JobId& id,
                                       std::size_t bytes) {
  auto& waiting = *client.waiting.find(id);
  if (waiting.line->group && waiting.line->group->deleted()) return nullptr;
  request.priority = waiting.line->fixed;
  auto memory = client.budget->take_memory(job_bytes);
  if (!memory) return nullptr;
  const auto made = make_job(client, request, id, bytes);
  if (!made) throw std::bad_alloc();  // the only reason, as its signal is there
  const auto& job = *made;
  job->runnable_at = waiting.runnable_from();
  job->unfinished->memory = std::move(memory);
  try {
    enter(client, job, job->runnable_at > Clock::now());
  } catch (...) {
    count_out(*job);
    client.jobs.forget(*job);
    throw;
  }
  client.waiting.note_job(waiting);
  return job;
}

// NOLINTNEXTLINE(bugprone-exception-escape): a timer that is set anew has no error to throw.
void JobService::post_waiting(Client& client) noexcept {
  restore_requeued();
  client.run_places.start_some();
  if (keeper_ != nullptr && shutting_down()) return;
  settle_followers(client);
  if (std::exchange(is_posting_, true)) return;
  try {
    wake_some(client);
    while (const auto turn = turns_.take()) {
      keeper_ != nullptr ? read_waiting(*turn->client, turn->id)
                         : post_lined_up(*turn->client, turn->id);
    }
    wake_later(client);
  } catch (const std::bad_alloc&) {
    wake_soon(client);
  }
  is_posting_ = false;
}

/// Without memory even for that, the next job that starts or ends does it.
// NOLINTNEXTLINE(bugprone-exception-escape): as above.
void JobService::wake_soon(Client& client) noexcept {
  try {
    wake_at(client, Clock::now() + retry_pause);
  } catch (const std::bad_alloc&) {
    return;
  }
}

void JobService::read_waiting(Client& client, const JobId& id) {
  try {
    keeper_->reread(id, [this, &client, id](const std::optional<StoredJob>& stored) {
      post_read(client, id, stored);
    });
  } catch (...) {
    client.waiting.put_back(id);
    throw;
  }
}

/// Errors: std::bad_alloc, after which it may be called again.
void JobService::post_read(Client& client, const JobId& id,
                           const std::optional<StoredJob>& stored) {
  if (shutting_down()) return;
  const auto job = client.jobs.find(id);
  if (stored && stored->state == StoredState::queued) {
    post_stored(client, *stored);
  } else if (is_shared()) {
    forget_waiting(client, id);
    hear_of(client, id);
  } else if (job && client.waiting.find(id) != nullptr) {
    finish_aborted(client, *job, job_deleted);
  } else {
    abort_waiting(client, id);
  }
  post_waiting(client);
}

/// Unless it was aborted while it was read.
void JobService::post_stored(Client& client, const StoredJob& stored) {
  const auto* const waiting = client.waiting.find(stored.id);
  if (waiting == nullptr) return;
  const auto line = waiting->line->shared_from_this();
  if (line->group && line->group->deleted()) return;  // a batch of the group's takes it
  // A pause has come meanwhile. What that holds back is before this one.
  if (!is_shared() && (line->is_paused() || Turns::is_behind_held(client, *line))) {
    return client.waiting.put_back(stored.id);
  }
  auto request = request_of(stored, line->kind);
  request.priority = line->fixed;
  request.delay = {};
  const auto bytes = static_cast<std::size_t>(stored.payload_bytes);
  auto ticket = client.budget->take_accepted(bytes + needed_bytes(request, bytes));
  auto job = client.jobs.find(stored.id);
  if (job) {
    job->note_attempts(stored);
    renew_controller(*job);
    post(client, *job, request, {}, std::move(ticket));
  } else {
    auto begun =
        begin(client, request, stored.id, bytes, {}, std::move(ticket), waiting->runnable_at);
    if (!begun) throw std::bad_alloc();
    job = std::move(*begun);
    note_attempts(client, *job, stored);
  }
  job->unfinished->memory.reset();
  // Suspects start one by one, and hold up no others.
  if (StartQueue::is_suspect(*job)) {
    job->unfinished->asking.reset();
  } else {
    job->unfinished->posted.emplace(line);
  }
  job->unfinished->stored = client.budget->take_stored(waiting->stored_bytes);
  client.waiting.remove(stored.id);
}

void JobService::abort_waiting(Client& client, const JobId& id) {
  if (const auto* const waiting = client.waiting.find(id)) {
    ++client.stats_of(waiting->line->priority()).aborted;
    forget_waiting(client, id);
  }
  end_followers(client, id, false);
}

void JobService::tell_end_of_waiting(Client& client, const JobSummary& job) {
  client.events.job_changed(job);
  log_.job_ended(client, job);
}

/// Null without a log, and without memory, as then it can do without the journal.
std::shared_ptr<std::size_t> JobService::count_answers() const noexcept {
  if (!log_.is_open()) return nullptr;
  try {
    return std::make_shared<std::size_t>(0);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// Says how many, which is none when all are gone.
std::size_t JobService::drop_some(const Dropping& batch) noexcept {
  auto& client = batch.client;
  const auto dropped = client.waiting.drop_some(
      *batch.group, [this, &batch](const WaitingJob& job) { log_dropped(batch, job); });
  settle_followers(client);
  if (dropped == 0) return 0;
  client.stats_of(batch.group->priority()).aborted += dropped;
  client.events.missed();
  return dropped;
}

void JobService::log_dropped(const Dropping& batch, const WaitingJob& job) noexcept {
  if (!log_.is_open() || ask_about_dropped(batch, job)) return;
  log_.job_dropped(batch.client, job.id, *job.line);
}

/// The journal has ended the job already, and knows more of it than the record does. False: there
/// is no memory to ask it.
// NOLINTNEXTLINE(bugprone-exception-escape): lines are made shared, so one can be shared again.
bool JobService::ask_about_dropped(const Dropping& batch, const WaitingJob& job) noexcept {
  if (!batch.unanswered) return false;
  try {
    auto tell = [this, batch, id = job.id,
                 line = job.line->shared_from_this()](const std::optional<StoredJob>& stored) {
      const bool is_known = stored && is_end(stored->state);
      is_known ? log_.job_ended(batch.client, summary_of(*stored, batch.client))
               : log_.job_dropped(batch.client, id, *line);
      if (--*batch.unanswered == 0) abort_next_batch(batch.client, batch.group);
    };
    keeper_->reread(text_of(job.id), std::move(tell));
    ++*batch.unanswered;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void JobService::forget_waiting(Client& client, const JobId& id) {
  const auto* const waiting = client.waiting.find(id);
  if (waiting == nullptr) return;
  const auto line = waiting->line->shared_from_this();
  client.waiting.remove(id);
  if (line->group) client.signals.drop_unused(line->signal_name, *line->group);
}

void JobService::move_waiting(Client& client, const JobId& id, heist::TaskPriority priority) {
  const auto* const waiting = client.waiting.find(id);
  if (waiting == nullptr) return post_waiting(client);  // others may have waited behind it
  const auto& from = *waiting->line;
  const auto to = client.waiting.line_of(from.signal_name, from.group, priority,
                                         client.counts_of(priority), from.kind, from.kind_pause);
  client.waiting.move(id, *to);
  post_waiting(client);
}

/// Calls post_waiting() when the first delay is over.   Errors: std::bad_alloc.
void JobService::wake_later(Client& client) {
  const auto next = client.waiting.next_time();
  if (next) wake_at(client, *next);
}

void JobService::wake_at(Client& client, Clock::time_point time) {
  auto& timer = wakes_.try_emplace(&client, network_).first->second;
  // The handler of an earlier time comes here anew.
  if (timer.expiry() > Clock::now() && timer.expiry() <= time) return;
  timer.expires_at(time);
  try {
    timer.async_wait([this, &client](const boost::system::error_code& error) {
      if (!error) post_waiting(client);
    });
  } catch (...) {
    timer.expires_at({});  // nobody waits for it
    throw;
  }
}

}  // namespace heistd
