// Jobs that start after others.
#include <algorithm>
#include <heistd/job_service.hpp>
#include <heistd/job_summary.hpp>
#include <new>
#include <utility>

namespace heistd {
namespace {

constexpr std::string_view not_done = "the job after which this one was to start was not done";

JobFailure failure_of(const StoredError& error) { return {error.code, error.message}; }

}  // namespace

JobService::Predecessor JobService::predecessor(Client& client, const JobId& id) {
  const auto job = find(client, id);
  if (!job && client.waiting.find(id) == nullptr) return Predecessor::unknown;
  if (!job || !job->finished() || !is_end(job->end().state)) return Predecessor::unfinished;
  return job->end().state == JobState::done ? Predecessor::done : Predecessor::failed;
}

Result<std::shared_ptr<Job>> JobService::submit_follower(Client& client, JobRequest request,
                                                         Blocks body, Budget::Ticket ticket) {
  const auto state = predecessor(client, request.after);
  if (state == Predecessor::unknown) return no_predecessor(request.after);
  if (state == Predecessor::failed) return predecessor_has_failed(request.after);
  request.follows = state == Predecessor::unfinished;
  return submit_judged(client, request, std::move(body), std::move(ticket));
}

/// What the end of a job means for those that follow it. With a journal, which knows that better,
/// it may be told again once the journal has the end.
void JobService::end_followers(Client& client, const JobId& id, bool is_done) noexcept {
  client.waiting.note_end(id, is_done ? Followers::End::done : Followers::End::other);
  settle_followers(client);
}

/// A batch; the others follow in later steps. Jobs that end meanwhile have theirs settled here.
void JobService::settle_followers(Client& client) noexcept {
  if (aborts_all_) return;  // followers as well, each for the same reason
  auto& followers = client.waiting.followers();
  if (std::exchange(followers.is_being_settled, true)) return;
  try {
    for (auto left = jobs_at_a_time; settle_follower(client);) {
      if (--left > 0) continue;
      if (settle_later(client)) return;
      left = jobs_at_a_time;  // without memory for a later step, it is this one
    }
  } catch (const std::bad_alloc&) {
    wake_soon(client);
  }
  followers.is_being_settled = false;
}

bool JobService::settle_later(Client& client) noexcept {
  const bool follows = do_later([this, &client] {
    --settling_;
    client.waiting.followers().is_being_settled = false;
    settle_followers(client);
    post_waiting(client);
  });
  if (follows) ++settling_;
  return follows;
}

/// False: there is none to be settled.   Errors: std::bad_alloc.
bool JobService::settle_follower(Client& client) {
  auto& followers = client.waiting.followers();
  if (const auto* const released = followers.first_released()) {
    release_follower(client, text_of(*released));
    return true;
  }
  const auto* const orphan = followers.first_orphan();
  if (orphan == nullptr) return false;
  const auto id = text_of(*orphan);
  if (keeper_ != nullptr) {
    ask_about_follower(client, id);
    followers.put_back_orphan();
  } else {
    const auto job = client.jobs.find(id);
    abort_follower(client, *job, predecessor_failed(job->after));
  }
  return true;
}

/// Errors: std::bad_alloc; then it follows as before.
void JobService::release_follower(Client& client, const JobId& id) {
  if (const auto job = client.jobs.find(id)) {
    const auto runnable_at = std::max(client.waiting.find(id)->runnable_at, Clock::now());
    count_anew(*job, runnable_at);
  }
  client.waiting.release(id);
}

/// Errors: std::bad_alloc.
void JobService::abort_follower(Client& client, Job& job, const StoredError& why) {
  job.unfinished->controller.abort();
  finish_aborted(client, job, not_done, failure_of(why));
}

/// The journal knows whether the job it follows is done, has ended without success, or goes on.
///
/// Errors: std::bad_alloc.
void JobService::ask_about_follower(Client& client, const JobId& id) {
  keeper_->reread(id, [this, &client, id](const std::optional<StoredJob>& stored) {
    on_follower(client, id, stored);
  });
}

/// Errors: std::bad_alloc, after which it may be called again.
void JobService::on_follower(Client& client, const JobId& id,
                             const std::optional<StoredJob>& stored) {
  if (shutting_down() || !client.waiting.is_following(id)) return;
  if (stored && !is_end(stored->state)) {
    if (stored->follows) return;
    release_follower(client, id);
  } else if (const auto job = client.jobs.find(id); job && !job->finished()) {
    const bool says_why = stored && stored->error;
    abort_follower(client, *job, says_why ? *stored->error : aborted_because(job_deleted));
  } else {
    if (stored && !job) tell_end_of_waiting(client, summary_of(*stored, client));
    abort_waiting(client, id);
  }
  post_waiting(client);
}

/// Of followers that the journal has aborted. Most hear of that as memory ends the job that they
/// follow; the others follow one of which only the journal knows, as this server lacks its kind.
void JobService::on_followers_aborted(const JobJournal::SharedFollowers& aborted) noexcept {
  if (auto* const client = turns_.find(aborted->client)) note_aborts(*client, aborted, 0);
}

/// Of those from `next` on: a batch in each step of the network thread.
void JobService::note_aborts(Client& client, const JobJournal::SharedFollowers& aborted,
                             std::size_t next) noexcept {
  const auto& ids = aborted->ids;
  do {
    for (auto left = jobs_at_a_time; left > 0 && next < ids.size(); --left) {
      note_abort(client, ids[next++]);
    }
    settle_followers(client);
    // Without memory for a later step, it is this one.
  } while (next < ids.size() &&
           !do_later([this, &client, aborted, next] { note_aborts(client, aborted, next); }));
}

void JobService::note_abort(Client& client, const JobId& follower) noexcept {
  if (!hears_of_predecessor(client, follower)) client.waiting.note_abort(follower);
}

/// Without memory to find out it does not.
bool JobService::hears_of_predecessor(Client& client, const JobId& follower) noexcept {
  try {
    const auto followed = client.waiting.predecessor_of(follower);
    return followed.empty() || predecessor(client, followed) != Predecessor::unknown;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

/// For an end that the journal has not heard of yet: those that follow the job hear of it again
/// when it has.   Errors: std::bad_alloc.
JobKeeper::Retold JobService::end_followers_later(Client& client, const JobId& id) {
  return [this, &client, id](const std::optional<StoredJob>& stored) {
    end_followers(client, id, stored && stored->state == StoredState::done);
    post_waiting(client);
  };
}

}  // namespace heistd
