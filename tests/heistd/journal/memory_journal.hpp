// MemoryJournal: a journal that nothing outlives.
#pragma once

#include <heistd/journal/job_journal.hpp>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace heistd {

/// Keeps everything in memory, payloads included, until the process ends. Each answer is there when
/// the call returns, and no call fails but with std::bad_alloc.
///
/// Thread: the network's.
class MemoryJournal : public JobJournal {
 public:
  explicit MemoryJournal(JournalBounds bounds = {}, JournalClock clock = &system_time)
      : bounds_(bounds), clock_(std::move(clock)) {}

  [[nodiscard]] Answer<Submitted> submit(NewJob job) override;
  [[nodiscard]] Answer<std::vector<Submitted>> submit_all(std::vector<NewJob> jobs) override;
  [[nodiscard]] Answer<std::optional<Started>> start(JobId id,
                                                     heist::TaskPriority priority) override;
  [[nodiscard]] Answer<Ended> complete(JobId id, Attempt attempt, StoredResult result) override;
  [[nodiscard]] Answer<Ended> fail(JobId id, Attempt attempt, StoredError error,
                                   std::optional<std::chrono::milliseconds> retry_after) override;
  [[nodiscard]] Answer<Effect> release(JobId id, Attempt attempt) override;
  [[nodiscard]] Answer<Ended> abort(JobId id, StoredError why) override;
  [[nodiscard]] Answer<Effect> set_priority(JobId id, heist::TaskPriority priority) override;
  [[nodiscard]] Answer<Effect> requeue(JobId id) override;
  [[nodiscard]] Answer<Effect> purge(JobId id) override;
  [[nodiscard]] Answer<Reclaimed> reclaim(Backoff backoff) override;
  [[nodiscard]] Answer<Effect> set_signal(std::string client, std::string name,
                                          heist::TaskPriority priority) override;
  [[nodiscard]] Answer<Ended> drop_signal(std::string client, std::string name) override;
  [[nodiscard]] Answer<Effect> set_pause(StoredPause what, bool on,
                                         heist::TaskPriority signal_priority) override;
  [[nodiscard]] Answer<std::vector<StoredPause>> pauses() override;
  [[nodiscard]] Answer<std::vector<StoredSignal>> signals() override;
  [[nodiscard]] Answer<std::optional<StoredJob>> find(JobId id) override;
  [[nodiscard]] Answer<std::size_t> count_unfinished() override;
  [[nodiscard]] Answer<std::vector<StoredJob>> load_unfinished(AcceptanceOrder after,
                                                               std::size_t most) override;
  [[nodiscard]] Answer<std::vector<StoredJob>> load_ended(std::string client, EndPlace before,
                                                          std::size_t most) override;
  [[nodiscard]] Answer<std::size_t> trim() override;
  [[nodiscard]] Answer<JobPage<StoredJob>> list(std::string client, JobQuery query) override;
  [[nodiscard]] Answer<std::string> read_payload(JobId id, ByteRange range) override;
  [[nodiscard]] Answer<std::string> read_result(JobId id, ByteRange range) override;
  [[nodiscard]] std::uint64_t late_ends() const noexcept override { return late_ends_; }

 private:
  struct Entry {
    StoredJob job;
    SystemTime may_start;
    std::optional<SystemTime> expires_at;
    SharedBlocks payload;
    SharedBlocks result;
  };
  struct Key {
    std::string digest;
    JobId id;
    SystemTime until;
  };
  struct Signal {
    StoredSignal stored;
    std::size_t unfinished = 0;  ///< jobs of it
  };
  using Name = std::pair<std::string, std::string>;  ///< a client's, of a signal or a key

  Entry* find_entry(const JobId& id) noexcept;
  Entry* find_attempt(const JobId& id, Attempt attempt) noexcept;
  void add(NewJob job, bool follows);
  Ended fail_attempt(Entry& entry, std::chrono::milliseconds retry_after, StoredError error);
  Ended end(Entry& entry, StoredState state);
  void end_alone(Entry& entry, StoredState state);
  void drop_old_keys();
  void free_key(const StoredJob& job);
  void join_signal(const StoredJob& job, heist::TaskPriority priority_of_new);
  void leave_signal(const StoredJob& job);
  std::size_t trim_all();
  [[nodiscard]] std::optional<AcceptanceOrder> next_to_drop() const;
  void erase(AcceptanceOrder order);
  [[nodiscard]] StoredJob told(const Entry& entry) const;

  const JournalBounds bounds_;
  const JournalClock clock_;
  std::map<AcceptanceOrder, Entry> jobs_;
  std::unordered_map<JobId, AcceptanceOrder> orders_;
  std::map<std::pair<SystemTime, AcceptanceOrder>, std::uint64_t> ended_;  ///< with what they count
  std::uint64_t ended_bytes_ = 0;
  std::map<Name, Signal> signals_;
  std::map<Name, Key> keys_;
  std::set<std::pair<StoredPause::Of, Name>> pauses_;
  AcceptanceOrder last_order_ = 0;
  std::uint64_t late_ends_ = 0;
};

}  // namespace heistd
