#include <pthread.h>

#include <exception>
#include <heistd/journal/journal_thread.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <utility>

namespace heistd {

void do_alone(JournalTask& task) noexcept {
  try {
    task.apply();
  } catch (SqliteError& error) {
    task.refuse(error.take());
  } catch (const std::exception& slip) {
    task.refuse(error_of(slip));
  }
  task.answer();
}

JournalThread::JournalThread(const char* name, std::function<void(Tasks)> work)
    : work_(std::move(work)), thread_([this] { run(); }) {
  ::pthread_setname_np(thread_.native_handle(), name);
}

JournalThread::~JournalThread() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void JournalThread::post(std::unique_ptr<JournalTask> task) {
  Tasks node;
  node.push_back(std::move(task));
  {
    const std::lock_guard lock(mutex_);
    posted_.splice(posted_.end(), node);
  }
  changed_.notify_one();
}

JournalThread::Tasks JournalThread::take() noexcept {
  const std::lock_guard lock(mutex_);
  return std::exchange(posted_, {});
}

void JournalThread::run() {
  for (auto tasks = wait(); !tasks.empty(); tasks = wait()) work_(std::move(tasks));
}

/// None when the end has come.
JournalThread::Tasks JournalThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ending_ || !posted_.empty(); });
  return std::exchange(posted_, {});
}

}  // namespace heistd
