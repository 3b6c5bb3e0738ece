#include <algorithm>
#include <bit>
#include <heistd/hex.hpp>
#include <heistd/waiting_jobs.hpp>
#include <iterator>

namespace heistd {
namespace {

WaitingJob::Id bits_of(const JobId& id) noexcept {
  return std::bit_cast<WaitingJob::Id>(from_hex<sizeof(WaitingJob::Id)>(id));
}

JobId text_of(const WaitingJob::Id& id) {
  return to_hex(std::bit_cast<std::array<unsigned char, sizeof id>>(id));
}

bool is_delayed(const WaitingJob& job) noexcept { return job.state == WaitingJob::State::delayed; }

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

WaitingJobs::~WaitingJobs() {
  delayed_.clear();
  for (const auto& [key, line] : lines_) {  // which jobs that run may still have
    line->jobs.clear();
    line->others.clear();
  }
}

std::shared_ptr<JobLine> WaitingJobs::line_of(const std::string& signal_name,
                                              const std::shared_ptr<SignalGroup>& group,
                                              std::optional<heist::TaskPriority> fixed,
                                              const std::shared_ptr<JobCounts>& counts,
                                              const Kind* limited_kind) {
  auto& line = lines_[{group.get(), fixed, limited_kind}];
  if (!line) line = std::make_shared<JobLine>(signal_name, group, fixed, counts, limited_kind);
  return line;
}

void WaitingJobs::drop_unused_lines() noexcept {
  std::erase_if(lines_, [](const auto& line) { return line.second->is_unused(); });
}

std::size_t WaitingJobs::posted(heist::TaskPriority least) const noexcept {
  std::size_t posted = 0;
  for (const auto& [key, line] : lines_) {
    if (line->priority() >= least) posted += line->posted;
  }
  return posted;
}

void WaitingJobs::add(const JobId& id, const std::shared_ptr<JobLine>& line, const Kind& kind,
                      TimePoint runnable_at) {
  const auto bits = bits_of(id);
  const auto [place, is_new] =
      jobs_.try_emplace(bits, WaitingJob{bits, line.get(), &kind, runnable_at});
  if (!is_new) return;
  auto& job = place->second;
  if (runnable_at > TimePoint::clock::now()) {
    delayed_.insert(job);
  } else {
    job.state = WaitingJob::State::in_line;
    job.turn = ++last_turn_;
  }
  link(job);
  count_in(job);
  budget_->enter(record_bytes);
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
  if (is_delayed(job)) delayed_.erase(Delayed::s_iterator_to(job));
  unlink(job);
  count_out(job);
  budget_->leave(record_bytes);
  jobs_.erase(found);
}

/// Gives the job its place in its line.
void WaitingJobs::link(WaitingJob& job) noexcept {
  auto& line = *job.line;
  if (job.state == WaitingJob::State::taken) ++line.posted, ++line.taken;
  if (job.state != WaitingJob::State::in_line) return line.others.push_back(job);
  auto place = line.jobs.end();
  while (place != line.jobs.begin() && std::prev(place)->turn > job.turn) --place;
  line.jobs.insert(place, job);
}

void WaitingJobs::unlink(WaitingJob& job) noexcept {
  auto& line = *job.line;
  if (job.state == WaitingJob::State::taken) --line.posted, --line.taken;
  if (job.state != WaitingJob::State::in_line) {
    line.others.erase(JobLine::Jobs::s_iterator_to(job));
  } else {
    line.jobs.erase(JobLine::Jobs::s_iterator_to(job));
  }
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
  job.has_job = true;
}

std::size_t WaitingJobs::drop_some(const SignalGroup& group) noexcept {
  std::size_t dropped = 0;
  for (const auto& [key, line] : lines_) {
    if (line->group.get() != &group) continue;
    for (auto* const jobs : {&line->jobs, &line->others}) {
      for (; dropped < jobs_at_a_time && !jobs->empty(); ++dropped) {
        erase(jobs_.find(jobs->front().id));
      }
    }
  }
  return dropped;
}

JobId WaitingJobs::take(JobLine& line) {
  auto& job = line.jobs.front();
  auto id = text_of(job.id);
  unlink(job);
  job.state = WaitingJob::State::taken;
  link(job);
  return id;
}

void WaitingJobs::put_back(const JobId& id) noexcept {
  auto* const job = find(id);
  if (job == nullptr) return;
  unlink(*job);
  job->state = WaitingJob::State::in_line;
  link(*job);
}

std::optional<WaitingJobs::TimePoint> WaitingJobs::next_wake() const noexcept {
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->runnable_at;
}

void WaitingJobs::wake(TimePoint now) noexcept {
  while (!delayed_.empty() && delayed_.begin()->runnable_at <= now) {
    auto& job = *delayed_.begin();
    delayed_.erase(delayed_.begin());
    unlink(job);
    count_out(job);
    job.state = WaitingJob::State::in_line;
    job.turn = ++last_turn_;
    count_in(job);
    link(job);
  }
}

}  // namespace heistd
