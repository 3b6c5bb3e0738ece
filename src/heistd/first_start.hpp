// FirstStart: how an agent starts a job that was accepted a moment ago.
#pragma once

#include <exception>
#include <heist/detail/sync.hpp>
#include <heistd/journal/job_journal.hpp>
#include <memory>
#include <utility>

namespace heistd {

/// Counts the first attempt of a job as its agent comes to it, so that it waits neither for the
/// network nor for a disk.
///
/// Roles   agent: the one that runs the job.  network: its thread.
/// States  waiting -> begun, by the agent, once the journal has counted the attempt; or
///         waiting -> given_up, by either.
/// Edge    begin -> give_up: who finds that it has begun ends an attempt that is counted.
class FirstStart {
 public:
  explicit FirstStart(std::unique_ptr<JobJournal::FirstAttempt> attempt) noexcept
      : attempt_(std::move(attempt)) {}

  /// The agent's: false when the attempt is not counted, as it was given up or cannot be now.
  [[nodiscard]] bool begin() noexcept {
    try {
      attempt_->count();
    } catch (const std::exception&) {
      give_up();
      return false;
    }
    if (change(State::begun)) return true;
    attempt_->take_back();
    return false;
  }
  /// From now on the job does not start here; false: it has.
  bool give_up() noexcept { return change(State::given_up) || !has_begun(); }
  [[nodiscard]] bool has_begun() const noexcept {
    return state_.load(heist::detail::sync::acquire) == State::begun;
  }

 private:
  enum class State : std::uint8_t { waiting, begun, given_up };

  bool change(State to) noexcept {
    auto from = State::waiting;
    return state_.compare_exchange_strong(from, to, heist::detail::sync::acq_rel,
                                          heist::detail::sync::acquire);
  }

  const std::unique_ptr<JobJournal::FirstAttempt> attempt_;
  heist::detail::sync::atomic<State> state_{State::waiting};
};

}  // namespace heistd
