// JobState: what a job is at.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <heistd/journal/job_record.hpp>
#include <optional>
#include <string_view>

namespace heistd {

enum class JobState : std::uint8_t { delayed, queued, running, done, failed, aborted, dead };

[[nodiscard]] constexpr std::string_view to_string(JobState state) noexcept {
  switch (state) {
    case JobState::delayed:
      return "delayed";
    case JobState::queued:
      return "queued";
    case JobState::running:
      return "running";
    case JobState::done:
      return "done";
    case JobState::failed:
      return "failed";
    case JobState::aborted:
      return "aborted";
    case JobState::dead:
      return "dead";
  }
  return "invalid";
}

[[nodiscard]] constexpr bool is_end(JobState state) noexcept { return state >= JobState::done; }

inline constexpr std::array all_states = {JobState::delayed, JobState::queued, JobState::running,
                                          JobState::done,    JobState::failed, JobState::aborted,
                                          JobState::dead};

/// The state of that name, if there is one.
[[nodiscard]] constexpr std::optional<JobState> parse_job_state(std::string_view text) noexcept {
  const auto* const found = std::ranges::find(all_states, text, &to_string);
  return found == all_states.end() ? std::nullopt : std::optional(*found);
}

/// As a journal has it.
[[nodiscard]] constexpr StoredState stored_state(JobState state) noexcept {
  switch (state) {
    case JobState::delayed:
    case JobState::queued:
      return StoredState::queued;
    case JobState::running:
      return StoredState::running;
    case JobState::done:
      return StoredState::done;
    case JobState::failed:
      return StoredState::failed;
    case JobState::dead:
      return StoredState::dead;
    case JobState::aborted:
      break;
  }
  return StoredState::aborted;
}

/// What a journal's job is at: a queued one has perhaps to wait for its time, or another job.
[[nodiscard]] constexpr JobState state_of(const StoredJob& job) noexcept {
  const bool is_delayed = job.delay.count() > 0 || job.follows;
  if (job.state == StoredState::queued && !is_delayed) return JobState::queued;
  const auto* const found = std::ranges::find(all_states, job.state, &stored_state);
  return *found;
}

}  // namespace heistd
