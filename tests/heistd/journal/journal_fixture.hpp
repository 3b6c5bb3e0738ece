// JournalTest: a journal of one implementation, asked and answered.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <heistd/journal/job_journal.hpp>
#include <heistd/journal/memory_journal.hpp>
#include <heistd/journal/sqlite_journal.hpp>
#include <heistd/limits.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scratch_directory.hpp"
#ifdef HEIST_POSTGRESQL
#include "postgres_on_its_thread.hpp"
#endif

namespace heistd {

using Effect = JobJournal::Effect;
using Acceptance = JobJournal::Acceptance;
using std::chrono::milliseconds;

/// What a journal answers; a fault fails the test.
template <class T>
T said(const heist::Promise<JournalResult<T>>& answer) {
  auto result = answer.get();
  if (!result) {
    ADD_FAILURE() << describe(result.error());
    return T();
  }
  return std::move(*result);
}

inline JobId id_of(int number) {
  auto digits = std::to_string(number);
  return std::string(32 - digits.size(), '0') + digits;
}

/// For starts whose order nobody looks at.
inline constexpr auto any_priority = heist::TaskPriority::user_visible;

inline SharedBlocks blocks(std::string_view bytes) {
  return std::make_shared<const Blocks>(1, std::string(bytes));
}

inline NewJob new_job(int number, std::string_view payload = "bytes") {
  NewJob job;
  job.id = id_of(number);
  job.client = "alice";
  job.kind = "digest";
  job.priority = heist::TaskPriority::user_visible;
  job.payload = blocks(payload);
  return job;
}

/// The implementations.
struct InMemory {
  std::unique_ptr<JobJournal> open(JournalBounds bounds, JournalClock clock) {
    return std::make_unique<MemoryJournal>(bounds, std::move(clock));
  }
};
struct OnDisk {
  std::unique_ptr<JobJournal> open(JournalBounds bounds, JournalClock clock) {
    return std::make_unique<SqliteJournal>(directory.path() / "data", bounds, std::move(clock));
  }
  ScratchDirectory directory;
};
#ifdef HEIST_POSTGRESQL
/// In the database that the environment names, of which all that heistd has there is dropped.
struct InPostgres {
  InPostgres() {
    drop_schema();
    migrate("");
  }
  std::unique_ptr<JobJournal> open(JournalBounds /*it has no such*/, JournalClock clock) {
    return std::make_unique<PostgresOnItsThread>(std::move(clock));
  }
};
#endif

#ifdef HEIST_POSTGRESQL
using Journals = testing::Types<InPostgres>;
using LastingJournals = Journals;
#else
using Journals = testing::Types<InMemory, OnDisk>;
using LastingJournals = testing::Types<OnDisk>;
#endif

/// The clock stands still until the test moves it.
template <class Implementation>
class JournalTest : public testing::Test {
 protected:
  void open(JournalBounds bounds) {
    journal.reset();
    journal = implementation.open(bounds, [this] { return now; });
  }

  void submit(NewJob job) {
    const auto id = job.id;
    const auto submitted = said(journal->submit(std::move(job)));
    EXPECT_EQ(submitted.acceptance, Acceptance::accepted);
    EXPECT_EQ(submitted.id, id);
  }
  Attempt start(int number) {
    const auto started = said(journal->start(id_of(number), any_priority));
    EXPECT_TRUE(started.has_value());
    return started ? started->attempt : 0;
  }
  void complete(int number, std::string_view result = "result") {
    const auto attempt = start(number);
    EXPECT_EQ(said(journal->complete(id_of(number), attempt, {"text", blocks(result)})),
              Effect::stored);
  }
  /// Uses up the one attempt that new_job() gives.
  void kill(int number) {
    const auto attempt = start(number);
    EXPECT_EQ(said(journal->fail(id_of(number), attempt, {"broken", "It broke."}, milliseconds(0))),
              Effect::stored);
  }
  Effect abort(int number) {
    return said(journal->abort(id_of(number), aborted_because("the test")));
  }
  StoredJob find(int number) {
    auto job = said(journal->find(id_of(number)));
    EXPECT_TRUE(job.has_value());
    return job.value_or(StoredJob());
  }
  bool knows(int number) { return said(journal->find(id_of(number))).has_value(); }
  StoredState state(int number) { return find(number).state; }
  std::string payload(int number, ByteRange range = {0, 100}) {
    return said(journal->read_payload(id_of(number), range));
  }
  std::string result(int number, ByteRange range = {0, 100}) {
    return said(journal->read_result(id_of(number), range));
  }
  std::vector<JobId> unfinished(AcceptanceOrder after = 0, std::size_t most = 100) {
    std::vector<JobId> found;
    for (const auto& job : said(journal->load_unfinished(after, most))) found.push_back(job.id);
    return found;
  }

  Implementation implementation;
  SystemTime now{std::chrono::hours(24 * 365 * 50)};
  std::unique_ptr<JobJournal> journal =
      implementation.open(JournalBounds(), [this] { return now; });
};

}  // namespace heistd
