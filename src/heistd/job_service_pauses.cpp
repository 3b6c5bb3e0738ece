// Kinds and signals of which nothing is to start for a while.
#include <heistd/job_service.hpp>
#include <new>
#include <utility>

namespace heistd {

void JobService::set_pause(Client& client, const Kind& kind, bool on) {
  const auto pause = client.kind_pauses.of(kind);
  set_pause(client, *pause, on);
  client.events.kind_changed(kind);
  if (!on) start_held(client);
}

Result<std::shared_ptr<SignalGroup>> JobService::set_pause(Client& client, std::string_view name,
                                                           bool on) {
  if (auto refusal = refuse_signal(client, name)) return std::move(*refusal);
  auto group = client.signals.find_or_make(name, client.default_priority());
  group->was_put = true;
  set_pause(client, group->pause, on);
  client.events.signal_changed(name, *group);
  if (!on) start_held(client);
  return group;
}

/// What an agent may have held back comes before all that is posted from now on (JRN-5). Who claims
/// jobs of a shared queue gives them back instead.   Errors: std::bad_alloc.
void JobService::set_pause(Client& client, Pause& pause, bool on) {
  const bool was_on = pause.is_on();
  pause.set(on);
  if (is_shared()) return;
  if (!on && was_on) {
    for (const auto& [key, line] : client.waiting.lines()) {
      if (line->is_under(pause)) line->ahead.note_resume(Clock::now());
    }
    start_held_later(client);  // even if there is no memory for what follows
  }
  hold_those_at_once(client);
}

/// The network would not hear how the agents of those that are paused have found the pause, and
/// those that are behind them would start before them: from now on they ask.
///
/// Errors: std::bad_alloc.
void JobService::hold_those_at_once(Client& client) {
  for (auto place = client.at_once.begin(); place != client.at_once.end();) {
    Job& job = **place++;
    const auto posted_at = job.unfinished->posted_at;
    if (!job.is_paused() && !Turns::is_ahead_of_held(client, job, posted_at)) continue;
    auto ahead = JobLine::ahead_of(line_of(client, job, job.fixed_priority));
    hear_of_first_start(client, job);
    if (job.unfinished->begun) continue;
    job.unfinished->held.emplace(std::move(ahead), job.unfinished->turn);
    job.unfinished->is_held_back = true;
  }
}

/// Its run ends without having started.
void JobService::hold_at_start(Job& job) noexcept {
  job.unfinished->is_held_back = true;
  note_held(job);
}

/// From now on others wait for the job, unless it is a suspect.
void JobService::note_held(Job& job) noexcept {
  auto& mine = *job.unfinished;
  if (mine.held) return mine.held->note_held();
  if (mine.asking) mine.held.emplace(mine.asking->all(), mine.turn);
}

/// The job has come to its start, and may not start now. A `run` that is null has ended. A claimed
/// job goes back, so that its agent may have another one.
///
/// Errors: std::bad_alloc, of a claimed job.
void JobService::hold(Client& client, Job& job, std::shared_ptr<JobRun> run) {
  if (is_shared()) return release_claim(client, job);
  auto& mine = *job.unfinished;
  mine.is_held_back = false;
  mine.held_run = std::move(run);
  put_in_held(client, job);
}

/// It gives its places among those that start to other jobs.
void JobService::put_in_held(Client& client, Job& job) noexcept {
  auto& mine = *job.unfinished;
  client.held.insert(job);
  note_held(job);
  mine.asking.reset();
  mine.posted.reset();
  mine.run_place.reset();
  if (job.is_paused()) return post_waiting(client);
  start_held(client);
}

/// A job of another priority than before starts behind those that are posted already (JRN-5). Those
/// of a signal that gets another priority keep their turns, also among those of other signals.
void JobService::take_new_turn(Client& client, Job& job) noexcept {
  const bool is_held = job.place_in_held.is_linked();
  job.place_in_held.unlink();
  job.unfinished->turn = Clock::now();
  if (is_held) client.held.insert(job);
}

/// Those that may start now. Without memory they stay held.
// NOLINTNEXTLINE(bugprone-exception-escape): nothing else is thrown.
void JobService::start_held(Client& client) noexcept {
  client.starts_held = false;
  try {
    start_some_held(client);
  } catch (const std::bad_alloc&) {
    start_held_later(client);
  }
}

void JobService::start_held_later(Client& client) noexcept {
  client.starts_held = true;
  starts_held_ = true;
}

bool JobService::recover(const ClientTable& clients) {
  if (!std::exchange(starts_held_, false)) return true;
  for (const auto& client : clients.all()) {
    if (client->starts_held) start_held(*client);
  }
  return !starts_held_;
}

/// A batch of them; the others follow in later steps. Suspects wait for no others.
///
/// Errors: std::bad_alloc.
void JobService::start_some_held(Client& client) {
  auto left = jobs_at_a_time;
  for (auto place = client.held.begin(); place != client.held.end() && left > 0;) {
    Job& job = *place++;
    if (job.is_paused()) continue;
    // The runs of those that it is to wait for have not ended yet.
    if (job.unfinished->held && Turns::is_ahead_of_held(client, job, Clock::now())) {
      start_held_later(client);
      continue;
    }
    start_again(client, job);
    --left;
  }
  if (left > 0) return post_waiting(client);
  // Without memory for a later step, it is this one.
  if (!do_later([this, &client] { start_held(client); })) start_held(client);
}

/// If it was held, others of its line may be posted behind it now.
///
/// Errors: std::bad_alloc.
void JobService::note_posted_anew(Client& client, Job& job) {
  auto& mine = *job.unfinished;
  if (!mine.held) return post_waiting(client);
  if (job.runnable_at <= Clock::now()) {
    mine.posted.emplace(line_of(client, job, job.fixed_priority));
  }
  mine.held->note_posted(mine.posted_at);
  post_waiting(client);
}

/// Errors: std::bad_alloc; the job is still held then.
void JobService::start_again(Client& client, Job& job) {
  auto& mine = *job.unfinished;
  if (keeper_ != nullptr) start_later(client, job, {});
  job.place_in_held.unlink();
  const auto run = std::move(mine.held_run);
  if (keeper_ != nullptr) {
    if (mine.held) mine.held->note_posting(Clock::now());
    return;
  }
  mine.held.reset();
  try {
    if (const auto start = std::exchange(mine.held_start, {})) return start();
    follow(client, job, run->post_first());
  } catch (const std::bad_alloc&) {
    end_job(client, job, {{}, OutOfMemory()});
  } catch (const std::exception&) {  // by the agents, which are closed: what is left is aborted
    return;
  }
}

}  // namespace heistd
