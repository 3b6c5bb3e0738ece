#include <algorithm>
#include <bit>
#include <heistd/hex.hpp>
#include <heistd/waiting_jobs.hpp>
#include <iterator>
#include <utility>

namespace heistd {
namespace {

/// So few lines may be unused.
constexpr std::size_t few_lines = 16;

WaitingJob::Id bits_of(const JobId& id) noexcept {
  return std::bit_cast<WaitingJob::Id>(from_hex<sizeof(WaitingJob::Id)>(id));
}

/// As its client sees it.
bool is_delayed(const WaitingJob& job) noexcept {
  return job.state == WaitingJob::State::delayed || job.state == WaitingJob::State::following;
}

std::size_t bytes_of(const WaitingJob& job) noexcept {
  const bool follows = job.state == WaitingJob::State::following;
  return WaitingJobs::record_bytes + (follows ? Followers::record_bytes : 0);
}

JobLine::Jobs& list_of(const WaitingJob& job) noexcept {
  auto& line = *job.line;
  if (job.state == WaitingJob::State::in_line) return line.jobs;
  return job.state == WaitingJob::State::taken ? line.being_read : line.others;
}

/// It looks from both ends, as the place is near one of them as a rule.
JobLine::Jobs::iterator place_of(JobLine::Jobs& jobs, std::uint64_t turn) noexcept {
  auto first = jobs.begin();
  auto last = jobs.end();
  while (first != last && first->turn < turn) {
    if (++first == last || std::prev(last)->turn < turn) return last;
    --last;
  }
  return first;
}

void count_in(const WaitingJob& job) noexcept {
  if (job.has_job) return;
  if (job.line->group) ++job.line->group->waiting;
  job.line->counts->add_waiting(is_delayed(job));
}

void count_out(const WaitingJob& job) noexcept {
  if (job.has_job) return;
  if (job.line->group) --job.line->group->waiting;
  job.line->counts->remove_waiting(is_delayed(job));
}

}  // namespace

JobId text_of(const WaitingJob::Id& id) {
  return to_hex(std::bit_cast<std::array<unsigned char, sizeof id>>(id));
}

WaitingJobs::~WaitingJobs() {
  expiring_.clear();
  for (const auto& [key, line] : lines_) {  // which jobs that run may still have
    line->delayed.clear();
    line->jobs.clear();
    line->being_read.clear();
    line->others.clear();
  }
}

std::shared_ptr<JobLine> WaitingJobs::line_of(const std::string& signal_name,
                                              const std::shared_ptr<SignalGroup>& group,
                                              std::optional<heist::TaskPriority> fixed,
                                              const std::shared_ptr<JobCounts>& counts,
                                              const Kind& kind,
                                              const std::shared_ptr<const Pause>& kind_pause) {
  const LineKey key{group.get(), fixed, &kind};
  if (const auto known = lines_.find(key); known != lines_.end()) return known->second;
  if (lines_.size() >= 2 * lines_in_use_ + few_lines) {
    drop_unused_lines();
    lines_in_use_ = lines_.size();
  }
  auto line = std::make_shared<JobLine>(signal_name, group, fixed, counts, kind, kind_pause);
  return lines_.emplace(key, std::move(line)).first->second;
}

void WaitingJobs::drop_unused_lines() noexcept {
  std::erase_if(lines_, [](const auto& line) { return line.second->is_unused(); });
}

std::size_t WaitingJobs::without_run_place(heist::TaskPriority least) const noexcept {
  std::size_t jobs = 0;
  for (const auto& [key, line] : lines_) {
    if (line->priority() >= least) jobs += line->posted - line->posted_at_once;
  }
  return jobs;
}

void WaitingJobs::add(const JobId& id, const std::shared_ptr<JobLine>& line, Times times,
                      const JobId& follows, std::size_t stored_bytes) {
  const auto bits = bits_of(id);
  const auto [place, is_new] =
      jobs_.try_emplace(bits, WaitingJob{bits, line.get(), times.runnable_at, times.expires_at});
  if (!is_new) return;
  auto& job = place->second;
  if (!follows.empty()) {
    try {
      followers_.add(bits_of(follows), bits);
    } catch (...) {
      jobs_.erase(place);
      throw;
    }
    job.state = WaitingJob::State::following;
  } else if (const auto now = TimePoint::clock::now();
             times.runnable_at <= now && !any_due(line->priority(), now)) {
    job.state = WaitingJob::State::in_line;
    job.turn = ++last_turn_;
  }
  job.stored_bytes = stored_bytes;
  link(job);
  count_in(job);
  budget_->enter(bytes_of(job), stored_bytes);
}

void WaitingJobs::release(const JobId& id) noexcept {
  auto* const job = find(id);
  if (job == nullptr || job->state != WaitingJob::State::following) return;
  const auto now = TimePoint::clock::now();
  followers_.remove(job->id);
  budget_->leave(bytes_of(*job), 0);
  count_out(*job);
  if (job->runnable_at <= now) job->runnable_at = now;
  if (job->runnable_at > now || any_due(job->line->priority(), now)) {
    set_state(*job, WaitingJob::State::delayed);
  } else {
    job->turn = ++last_turn_;
    set_state(*job, WaitingJob::State::in_line);
  }
  count_in(*job);
  budget_->enter(bytes_of(*job), 0);
}

bool WaitingJobs::is_following(const JobId& id) noexcept {
  const auto* const job = find(id);
  return job != nullptr && job->state == WaitingJob::State::following;
}

void WaitingJobs::note_end(const JobId& predecessor, Followers::End end) noexcept {
  followers_.note_end(bits_of(predecessor), end);
}

void WaitingJobs::note_abort(const JobId& follower) noexcept {
  followers_.note_abort(bits_of(follower));
}

JobId WaitingJobs::predecessor_of(const JobId& follower) const {
  const auto* const predecessor = followers_.predecessor_of(bits_of(follower));
  return predecessor == nullptr ? JobId() : text_of(*predecessor);
}

WaitingJob* WaitingJobs::find(const JobId& id) noexcept {
  if (jobs_.empty() || !is_job_id(id)) return nullptr;
  const auto found = jobs_.find(bits_of(id));
  return found == jobs_.end() ? nullptr : &found->second;
}

void WaitingJobs::remove(const JobId& id) noexcept {
  if (const auto* const job = find(id)) erase(jobs_.find(job->id));
}

void WaitingJobs::erase(Jobs::iterator found) noexcept {
  auto& job = found->second;
  unlink(job);
  count_out(job);
  if (job.has_job) --with_job_;
  followers_.remove(job.id);
  budget_->leave(bytes_of(job), job.stored_bytes);
  jobs_.erase(found);
}

/// Gives the job its places in its line and among those with times.
void WaitingJobs::link(WaitingJob& job) noexcept {
  const bool is_taken = job.state == WaitingJob::State::taken;
  if (job.state == WaitingJob::State::delayed) {
    job.line->delayed.insert(job);
  } else if (!is_taken && job.expires_at != TimePoint::max()) {
    expiring_.insert(job);
  }
  if (is_taken) ++job.line->posted;
  auto& jobs = list_of(job);
  if (job.state != WaitingJob::State::in_line) return jobs.push_back(job);
  jobs.insert(place_of(jobs, job.turn), job);
}

void WaitingJobs::unlink(WaitingJob& job) noexcept {
  if (job.state == WaitingJob::State::delayed) {
    job.line->delayed.erase(job.line->delayed.iterator_to(job));
  } else if (job.time_place.is_linked()) {
    expiring_.erase(expiring_.iterator_to(job));
  }
  if (job.state == WaitingJob::State::taken) --job.line->posted;
  list_of(job).erase(JobLine::Jobs::s_iterator_to(job));
}

void WaitingJobs::set_state(WaitingJob& job, WaitingJob::State state) noexcept {
  unlink(job);
  job.state = state;
  link(job);
}

void WaitingJobs::move(const JobId& id, JobLine& to) noexcept {
  auto* const job = find(id);
  if (job == nullptr) return;
  unlink(*job);
  count_out(*job);
  job->line = &to;
  count_in(*job);
  link(*job);
}

void WaitingJobs::note_job(WaitingJob& job) noexcept {
  count_out(job);
  if (!std::exchange(job.has_job, true)) ++with_job_;
}

std::size_t WaitingJobs::drop_some(const SignalGroup& group, const Dropped& dropped) noexcept {
  std::size_t count = 0;
  for (const auto& [key, line] : lines_) {
    if (line->group.get() != &group) continue;
    for (auto* const jobs : {&line->jobs, &line->being_read, &line->others}) {
      for (; count < jobs_at_a_time && !jobs->empty(); ++count) {
        dropped(jobs->front());
        followers_.note_end(jobs->front().id, Followers::End::other);
        erase(jobs_.find(jobs->front().id));
      }
    }
  }
  return count;
}

JobId WaitingJobs::take(JobLine& line) {
  auto& job = line.jobs.front();
  auto id = text_of(job.id);
  set_state(job, WaitingJob::State::taken);
  return id;
}

void WaitingJobs::put_back(const JobId& id) noexcept {
  auto* const job = find(id);
  if (job != nullptr) set_state(*job, WaitingJob::State::in_line);
}

std::optional<WaitingJobs::TimePoint> WaitingJobs::next_time() const noexcept {
  auto next = expiring_.empty() ? TimePoint::max() : expiring_.begin()->expires_at;
  for (const auto& [key, line] : lines_) {
    if (!line->delayed.empty()) next = std::min(next, line->delayed.begin()->runnable_at);
  }
  return next == TimePoint::max() ? std::nullopt : std::optional(next);
}

bool WaitingJobs::any_due(heist::TaskPriority priority, TimePoint now) const noexcept {
  return std::ranges::any_of(lines_, [priority, now](const auto& entry) {
    return entry.second->any_due(now) && entry.second->priority() == priority;
  });
}

void WaitingJobs::wake_some(TimePoint now) noexcept {
  for (auto left = jobs_at_a_time; left > 0; --left) {
    auto* const line = first_due(now);
    if (line == nullptr) return;
    wake(*line->delayed.begin());
  }
}

/// Null when there is none.
JobLine* WaitingJobs::first_due(TimePoint now) const noexcept {
  const auto is_before = [](const JobLine& one, const JobLine& other) {
    if (one.priority() != other.priority()) return one.priority() > other.priority();
    return one.delayed.begin()->runnable_at < other.delayed.begin()->runnable_at;
  };
  JobLine* first = nullptr;
  for (const auto& [key, line] : lines_) {
    if (line->any_due(now) && (first == nullptr || is_before(*line, *first))) first = line.get();
  }
  return first;
}

void WaitingJobs::wake(WaitingJob& job) noexcept {
  count_out(job);
  job.turn = ++last_turn_;
  set_state(job, WaitingJob::State::in_line);
  count_in(job);
}

std::optional<JobId> WaitingJobs::expired(TimePoint now) const {
  if (expiring_.empty() || expiring_.begin()->expires_at > now) return std::nullopt;
  return text_of(expiring_.begin()->id);
}

}  // namespace heistd
