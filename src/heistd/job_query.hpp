// JobQuery: which jobs a list is to have.
#pragma once

#include <cstddef>
#include <heistd/job_state.hpp>
#include <heistd/journal/job_record.hpp>
#include <optional>
#include <string>
#include <vector>

namespace heistd {

/// Jobs of one client, in the order in which they were accepted.
struct JobQuery {
  std::optional<JobState> state = {};  ///< empty: whatever they are at
  std::string kind = {};               ///< empty: of any kind
  std::string signal_name = {};        ///< empty: whatever signal they have
  AcceptanceOrder after = 0;           ///< behind this one
  std::size_t most = 50;
};

/// A part of a list.
template <class T>
struct JobPage {
  std::vector<T> jobs;
  /// What the next part is behind; nothing when this was the last.
  std::optional<AcceptanceOrder> last = {};
};

/// How many jobs of a client one part of its list looks at, so that it soon is there. It may have
/// fewer than it was asked for, though others follow.
inline constexpr std::size_t most_looked_at = 2000;

}  // namespace heistd
