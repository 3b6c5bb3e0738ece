#include "agents.hpp"
#include <algorithm>
#include <utility>

namespace simulation {

void Agents::add(const Job& job) {
  waiting_.at(job.level).push_back(job);
  dispatch();
}

std::array<std::size_t, levels> Agents::held() const {
  std::array<std::size_t, levels> held{};
  for (std::size_t level = 0; level < levels; ++level) held.at(level) = waiting_.at(level).size();
  for (const auto& running : running_) {
    if (running.is_busy) ++held.at(running.job.level);
  }
  for (std::size_t level = levels - 1; level-- > 0;) held.at(level) += held.at(level + 1);
  return held;
}

std::vector<Job> Agents::take_all() {
  std::vector<Job> all;
  for (auto& running : running_) {
    if (running.is_busy) all.push_back(running.job);
    running = {.turn = running.turn + 1};
  }
  for (auto& line : waiting_) {
    all.insert(all.end(), line.begin(), line.end());
    line.clear();
  }
  return all;
}

const Job* Agents::next() const {
  for (std::size_t level = levels; level-- > 0;) {
    if (!waiting_.at(level).empty()) return &waiting_.at(level).front();
  }
  return nullptr;
}

Job Agents::take_next() {
  auto& line = waiting_.at(next()->level);
  const Job job = line.front();
  line.pop_front();
  return job;
}

/// Null when there is none that can be made to give way.
Agents::Running* Agents::least_urgent_below(std::size_t level) {
  Running* least = nullptr;
  for (auto& running : running_) {
    if (running.is_giving_way || running.job.level >= level) continue;
    if (least == nullptr || running.job.level < least->job.level) least = &running;
  }
  return least;
}

void Agents::dispatch() {
  for (auto& running : running_) {
    if (!running.is_busy && next() != nullptr) start(running);
  }
  const auto giving_way = std::count_if(running_.begin(), running_.end(),
                                        [](const auto& running) { return running.is_giving_way; });
  if (const auto* const job = next(); job != nullptr && giving_way == 0) {
    if (auto* const least = least_urgent_below(job->level)) give_way(*least);
  }
}

void Agents::start(Running& running) {
  auto job = take_next();
  if (!std::exchange(job.has_started, true)) {
    figures_.start_delays.at(job.level).push_back(seconds_of(world_.now() - job.accepted));
  }
  running = {.is_busy = true, .job = job, .since = world_.now(), .turn = running.turn + 1};
  after(running, job.left, [this, &running] {
    const auto ended = running.job;
    running = {.turn = running.turn + 1};
    on_end_(ended);
    dispatch();
  });
}

/// At the end of the chunk that it is at.
void Agents::give_way(Running& running) {
  running.is_giving_way = true;
  const auto until = time_of(seconds_of(chunk) * world_.random_part());
  after(running, until, [this, &running] {
    auto job = running.job;
    job.left -= world_.now() - running.since;
    running = {.turn = running.turn + 1};
    waiting_.at(job.level).push_front(job);
    dispatch();
  });
}

template <class Action>
void Agents::after(Running& running, Time time, Action action) {
  world_.after(time, [turn = running.turn, &running, action] {
    if (running.turn == turn) action();
  });
}

}  // namespace simulation
