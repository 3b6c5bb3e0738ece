#include <heistd/journal/checkpoints.hpp>
#include <memory>
#include <new>
#include <utility>

namespace heistd {
namespace {

/// 16 MiB of log: a page that many transactions write is copied once.
constexpr int pages_before_copying = 4096;
/// 64 MiB: a journal that fills the log faster than it is copied waits here.
constexpr int most_pages = 4 * pages_before_copying;

}  // namespace

/// What the thread is asked for.
class Checkpoints::Copy final : public JournalTask {
 public:
  explicit Copy(Checkpoints& owner) noexcept : owner_(owner) {}
  /// Once. SQLite before 3.51.3 may lose transactions if the log begins anew just as a checkpoint
  /// begins ("WAL-reset bug"). It does so only when all of it has been copied, and each copy is
  /// asked for by a transaction that has not been.
  void apply() override { owner_.copying_.checkpoint(); }
  void refuse(JournalError /*error*/) noexcept override {}
  void answer() noexcept override { owner_.copied_.release(); }

 private:
  Checkpoints& owner_;
};

Checkpoints::Checkpoints(SqliteDatabase& written, SqliteDatabase copying)
    : written_(written),
      copying_(std::move(copying)),
      thread_("heistd-copies", [](const JournalThread::Tasks& tasks) {
        for (const auto& task : tasks) {
          task->apply();
          task->answer();
        }
      }) {
  written_.on_commit(
      [](void* self, ::sqlite3* /*connection*/, const char* /*name*/, int pages) {
        static_cast<Checkpoints*>(self)->note_commit(pages);
        return SQLITE_OK;
      },
      this);
}

Checkpoints::~Checkpoints() { written_.on_commit(nullptr, nullptr); }

void Checkpoints::note_commit(int pages) noexcept {
  if (pages < pages_before_copying) return;
  if (!is_copying_) return begin_copying();
  if (pages >= most_pages) {
    copied_.acquire();
  } else if (!copied_.try_acquire()) {
    return;
  }
  is_copying_ = false;
  written_.checkpoint();
}

void Checkpoints::begin_copying() noexcept {
  try {
    thread_.post(std::make_unique<Copy>(*this));
    is_copying_ = true;
  } catch (const std::bad_alloc&) {  // the next commit tries again
  }
}

}  // namespace heistd
