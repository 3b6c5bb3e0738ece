// How the jobs of a journal come back when the server starts.
#pragma once

#include <cstddef>
#include <heistd/client.hpp>
#include <heistd/job_service.hpp>
#include <heistd/kind_table.hpp>

namespace heistd {

struct RestoredJobs {
  std::size_t unfinished = 0;
  std::size_t finished = 0;
  std::size_t dead = 0;  ///< that had used up their attempts when the server ended last
  /// Of clients or kinds that this server does not have, or with parameters that it would refuse.
  /// They stay in the journal.
  std::size_t left = 0;
};

/// Gives the service the unfinished jobs of its journal, in the order in which they were accepted,
/// the signals, and the newest finished jobs. Says on standard output how far it has come.
///
/// Blocks: until all have been read.   Errors: JournalRefused, std::bad_alloc.
RestoredJobs restore_jobs(JobService& service, const ClientTable& clients, const KindTable& kinds);

/// Gives the clients their signals and pauses, and nothing else: of a queue that servers share, the
/// jobs come as they are claimed.
///
/// Blocks, errors: as above.
void restore_names(JobService& service, const ClientTable& clients, const KindTable& kinds);

}  // namespace heistd
