#include "database.hpp"
#include <numeric>

namespace simulation {

/// From now on, with the way to the database and the wait for a processor.
Time Database::until_done(Time cost) {
  const auto first = std::min_element(free_at_.begin(), free_at_.end());
  const Time arrives = world_.now() + network / 2;
  const Time begins = std::max({*first, arrives, back_at_});
  *first = begins + cost;
  ++figures_.calls;
  figures_.processors += cost;
  if (!is_away()) figures_.longest_queue = std::max(figures_.longest_queue, begins - arrives);
  return *first - world_.now();
}

/// More for a call that is under way.
Time Database::spend(Time cost) {
  *std::max_element(free_at_.begin(), free_at_.end()) += cost;
  figures_.processors += cost;
  return cost;
}

void Database::accept(std::vector<Job>& jobs) {
  for (auto& job : jobs) {
    job.accepted = world_.now();
    waiting_.at(job.level).push_back(job);
  }
}

std::vector<Job> Database::take(std::size_t agents, const std::array<std::size_t, levels>& held) {
  std::vector<Job> claimed;
  for (std::size_t level = levels; level-- > 0;) {
    auto& line = waiting_.at(level);
    while (!line.empty() && claimed.size() + held.at(level) < agents) {
      claimed.push_back(line.front());
      line.pop_front();
    }
  }
  ++figures_.claims;
  if (claimed.empty()) ++figures_.empty_claims;
  return claimed;
}

void Database::take_back(std::vector<Job> jobs) {
  figures_.run_again += jobs.size();
  for (auto& job : jobs) waiting_.at(job.level).push_front(job);
}

void Database::stop_for(Time time) { back_at_ = world_.now() + time; }

}  // namespace simulation
