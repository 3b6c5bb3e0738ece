// RecentJobs: jobs that were accepted a moment ago, with their uploads.
#pragma once

#include <cstddef>
#include <heistd/blocks.hpp>
#include <heistd/job_id.hpp>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

namespace heistd {

/// An urgent job starts right after its acceptance, and need not be read from the disk for that. A
/// job that is here is stored and queued, and has never been started. Few have room, and each goes
/// with its start, with its end, or as others come.
///
/// Thread: any.   Blocks: never for longer than it takes to find an entry.
class RecentJobs {
 public:
  static constexpr std::size_t most_jobs = 256;
  static constexpr std::size_t most_bytes = std::size_t{4} << 20U;

  /// Without memory for that, the job is not here.
  void add(const JobId& id, SharedBlocks upload) noexcept;
  /// The upload, if the job was here: it is to be started now.   Errors: std::bad_alloc.
  [[nodiscard]] std::optional<std::string> take(const JobId& id);
  void remove(const JobId& id) noexcept;

 private:
  struct Recent {
    JobId id;
    SharedBlocks upload;  ///< null: none
    std::size_t bytes;
  };
  using Jobs = std::list<Recent>;

  void erase(Jobs::iterator job) noexcept;

  std::mutex mutex_;
  Jobs jobs_;                                         ///< under the mutex, the oldest first
  std::size_t bytes_ = 0;                             ///< under the mutex
  std::unordered_map<JobId, Jobs::iterator> places_;  ///< under the mutex
};

}  // namespace heistd
