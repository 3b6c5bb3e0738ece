// Which attempts run, and where their notes are.
#include <sys/resource.h>

#include <csignal>
#include <heistd/journal/running_attempts.hpp>

#include "journal_fixture.hpp"

namespace heistd {
namespace {

constexpr std::size_t note_bytes = 64;

/// While it lives, no file of this process grows beyond so many bytes.
class FileLimit {
 public:
  explicit FileLimit(std::size_t bytes) : on_signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const ::rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    static_cast<void>(std::signal(SIGXFSZ, on_signal_));
  }

 private:
  void (*on_signal_)(int);
  ::rlimit before_{};
};

class RunningAttemptsTest : public testing::Test {
 protected:
  std::size_t bytes_of_file() const {
    return std::filesystem::file_size(directory.path() / "starts");
  }

  const ScratchDirectory directory;
  RunningAttempts attempts{directory.path()};
};

TEST_F(RunningAttemptsTest, begin_when_others_have_ended_then_their_places_are_used_again) {
  for (int number = 0; number < 100; ++number) {
    attempts.begin(id_of(number), 1);
    if (number >= 2) attempts.end(id_of(number - 2), 1);
  }
  EXPECT_EQ(bytes_of_file(), 3 * note_bytes);
  EXPECT_EQ(attempts.all(), (RunningAttempts::Attempts{{id_of(98), 1}, {id_of(99), 1}}));
}

// Rule: JRN-2
TEST_F(RunningAttemptsTest, begin_when_the_note_cannot_be_written_then_nothing_runs) {
  attempts.begin(id_of(1), 1);
  for (const std::size_t room : {note_bytes, note_bytes + 40}) {
    const FileLimit limit(room);
    try {
      attempts.begin(id_of(2), 1);
      ADD_FAILURE() << "an attempt has begun without its note";
    } catch (SqliteError& error) {
      EXPECT_NE(describe(error.take()).find("starts"), std::string::npos);
    }
    EXPECT_EQ(attempts.all(), (RunningAttempts::Attempts{{id_of(1), 1}}));
  }
  attempts.begin(id_of(3), 1);
  EXPECT_EQ(attempts.find(id_of(3)), 1U);
  EXPECT_EQ(bytes_of_file(), 2 * note_bytes);
}

// Rule: JRN-2
TEST_F(RunningAttemptsTest, end_when_another_attempt_of_the_job_runs_then_that_goes_on) {
  attempts.begin(id_of(1), 1);
  attempts.begin(id_of(1), 2);  // the end of the first one is stored, and is told a moment later
  for (const Attempt other : {0U, 1U, 3U}) attempts.end(id_of(1), other);
  EXPECT_EQ(attempts.find(id_of(1)), 2U);
  attempts.end(id_of(1), 2);
  EXPECT_EQ(attempts.find(id_of(1)), std::nullopt);
}

}  // namespace
}  // namespace heistd
