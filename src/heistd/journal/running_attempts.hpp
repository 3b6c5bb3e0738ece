// RunningAttempts: which attempts of a journal's jobs run in this process.
#pragma once

#include <cstddef>
#include <filesystem>
#include <heistd/journal/start_notes.hpp>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

namespace heistd {

/// What the database does not say of a job that runs: its rows change when an attempt ends, and not
/// when it starts. An attempt counts as running while it is here and its number is higher than that
/// of the row. So one whose end is stored may stay here a little longer.
///
/// Who reads a row and asks here has to ask first: an attempt that is not here any more has its end
/// in every row that is read later.
///
/// Roles   starters: any threads, of each job one at a time.  others: any threads.
class RunningAttempts {
 public:
  using Attempts = std::unordered_map<JobId, Attempt>;

  /// Errors: JournalRefused.
  explicit RunningAttempts(const std::filesystem::path& directory) : notes_(directory) {}

  /// A starter's: notes the attempt, so that its number outlives the process. One of the same job
  /// whose end is stored may be here still.   Errors: SqliteError, std::bad_alloc; then it has not
  /// begun.
  void begin(const JobId& id, Attempt attempt);

  /// A starter's: the attempt has not begun after all. If that cannot be noted, it counts after a
  /// kill as if it had.
  void take_back(const JobId& id, Attempt attempt) noexcept;

  [[nodiscard]] std::optional<Attempt> find(const JobId& id) const;
  /// Errors: std::bad_alloc.   Cost: a step for each attempt that runs.
  [[nodiscard]] Attempts all() const;

  /// What a job is at whose row has this state and attempt.
  static void merge(std::optional<Attempt> running, StoredState& state, Attempt& attempt) noexcept {
    if (!running || *running <= attempt || is_end(state)) return;
    state = StoredState::running;
    attempt = *running;
  }

  /// The end of this attempt is stored. Nothing if there is none, or another one.
  void end(const JobId& id, Attempt attempt) noexcept;

 private:
  struct Running {
    Attempt attempt = 0;
    std::size_t place = 0;  ///< of its note
  };

  using Entries = std::unordered_map<JobId, Running>;

  [[nodiscard]] std::size_t place_for(const JobId& id);
  void add_place();
  std::optional<std::size_t> reserve(const JobId& id, Attempt attempt) noexcept;
  void give_back(const JobId& id) noexcept;
  void erase(Entries::iterator entry) noexcept;

  StartNotes notes_;
  mutable std::mutex mutex_;
  Entries running_;                       ///< under the mutex
  std::vector<std::size_t> free_places_;  ///< under the mutex; a heap, the lowest first
  std::size_t places_ = 0;                ///< under the mutex; how many there have been
};

}  // namespace heistd
