#include <algorithm>
#include <exception>
#include <heistd/job.hpp>
#include <heistd/run_places.hpp>

namespace heistd {
namespace {

bool may_run(const std::shared_ptr<Job>& job) noexcept {
  return job && !job->finished() && !job->unfinished->is_given_up;
}

}  // namespace

bool RunPlaces::ask(const std::shared_ptr<Job>& job, Start start) {
  waiting_.push_back({job, job->unfinished->run, std::move(start)});
  start_some();
  return !may_run(job) || job->unfinished->run_place.has_value();
}

void RunPlaces::take(Job& job) const { job.unfinished->run_place.emplace(taken_); }

/// Null when the job does not wait any more.
std::shared_ptr<Job> RunPlaces::job_of(const Waiting& waits) noexcept {
  auto job = waits.job.lock();
  const bool is_so = may_run(job) && job->unfinished->run == waits.run;
  return is_so ? std::move(job) : nullptr;
}

/// A start may call this anew. When one fails for lack of memory, the others go on, and that job
/// ends with its run.
void RunPlaces::start_some() noexcept {
  const auto urgency = [](const Waiting& waits) {
    const auto job = job_of(waits);
    return job ? static_cast<int>(job->priority()) : -1;
  };
  if (std::exchange(is_starting_, true)) return;
  waiting_.remove_if([&](const Waiting& waits) { return urgency(waits) < 0; });
  while (has_place() && !waiting_.empty()) {
    const auto first = std::ranges::max_element(waiting_, {}, urgency);  // the oldest of them
    const auto job = job_of(*first);
    const auto start = std::move(first->start);
    waiting_.erase(first);
    if (!job) continue;  // a start has ended it
    job->unfinished->run_place.emplace(taken_);
    try {
      start();
    } catch (const std::exception&) {
      continue;
    }
  }
  is_starting_ = false;
}

std::size_t RunPlaces::waiting(heist::TaskPriority least) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(waiting_, [least](const Waiting& waits) {
    const auto job = job_of(waits);
    return job && job->priority() >= least;
  }));
}

}  // namespace heistd
