// What a journal on disk answers when memory runs out.
#include <exception>
#include <heistd/journal/data_directory.hpp>
#include <heistd/journal/group_commit.hpp>
#include <heistd/journal/sqlite_schema.hpp>
#include <memory>
#include <utility>

#include "heistd/no_memory.hpp"
#include "journal_fixture.hpp"

namespace heistd {
namespace {

/// Cannot be done, as the database says at length.
class Refused : public JournalTask {
 public:
  explicit Refused(JournalError& answer) : answer_(answer) {}
  void apply() override { std::rethrow_exception(error_); }
  void refuse(JournalError error) noexcept override { refusal_ = std::move(error); }
  void answer() noexcept override { answer_ = std::move(refusal_); }

 private:
  /// Made while there is memory.
  const std::exception_ptr error_ =
      std::make_exception_ptr(SqliteError({JournalFault::out_of_memory, std::string(100, 'x')}));
  JournalError refusal_;
  JournalError& answer_;
};

TEST(GroupCommitWithoutMemory, refusal_when_there_is_none_then_it_is_answered) {
  const ScratchDirectory scratch;
  const DataDirectory directory(scratch.path() / "data");
  auto database = open_for_writing(directory);
  GroupCommit commit(database, [] {}, [] {});
  JournalThread thread("heistd-journal", [](const JournalThread::Tasks& /*none*/) {});
  JournalError answer;
  JournalThread::Tasks tasks;
  tasks.push_back(std::make_unique<Refused>(answer));
  {
    const NoMemory none(0);
    commit.run(std::move(tasks), thread);
  }
  EXPECT_EQ(answer.fault, JournalFault::out_of_memory);
  EXPECT_EQ(answer.detail.size(), 100U);
}

}  // namespace
}  // namespace heistd
