#include <algorithm>
#include <chrono>
#include <heistd/journal/group_commit.hpp>
#include <iterator>
#include <string>

namespace heistd {
namespace {

/// How long a transaction takes in what is posted meanwhile.
constexpr std::chrono::milliseconds time_to_gather{2};

}  // namespace

void GroupCommit::run(Tasks tasks, JournalThread& thread) noexcept {
  if (!try_all(tasks, thread)) try_each(tasks);
  if (is_left_in_log_) overwrite_refused();
  for (const auto& task : tasks) task->answer();
}

bool GroupCommit::try_all(Tasks& tasks, JournalThread& thread) noexcept {
  try {
    begin();
    apply_all(tasks, thread);
    commit();
    return true;
  } catch (const std::exception&) {
    roll_back();
    return false;
  }
}

void GroupCommit::apply_all(Tasks& tasks, JournalThread& more_from) {
  const auto end = now_() + time_to_gather;
  for (auto next = tasks.begin(); next != tasks.end(); ++next) {
    (*next)->apply();
    const bool is_last = std::next(next) == tasks.end();
    if (!is_last || now_() >= end) continue;
    auto more = more_from.take();
    tasks.splice(tasks.end(), more);
  }
}

/// One of them may be what cannot be done; the others are not to suffer from that. But a lock, for
/// which each of them would wait, concerns all.
void GroupCommit::try_each(const Tasks& tasks) noexcept {
  bool locked = false;
  for (const auto& task : tasks) {
    if (locked) {
      task->refuse({JournalFault::locked, {}});
    } else {
      locked = try_alone(*task) == Tried::locked;
    }
  }
}

GroupCommit::Tried GroupCommit::try_alone(JournalTask& task) noexcept {
  try {
    begin();
    task.apply();
    commit();
  } catch (SqliteError& error) {
    roll_back();
    const bool locked = error.error().fault == JournalFault::locked;
    task.refuse(error.take());
    if (locked) return Tried::locked;
  } catch (const std::exception& slip) {
    roll_back();
    task.refuse(error_of(slip));
  }
  return Tried::done_or_refused;
}

void GroupCommit::begin(bool synced) {
  if (synced != syncs_) {
    database_.execute(synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    syncs_ = synced;
  }
  database_.execute("BEGIN IMMEDIATE");
}

void GroupCommit::commit() {
  is_left_in_log_ = true;
  const auto start = now_();
  try {
    database_.execute("COMMIT");
  } catch (...) {
    note_commit(start);
    throw;
  }
  is_left_in_log_ = false;
  on_commit_();
  note_commit(start);
}

/// What the disk could not take counts as well: of a disk that fails that may be most.
void GroupCommit::note_commit(std::chrono::steady_clock::time_point start) {
  if (!syncs_) return;
  const std::lock_guard lock(mutex_);
  commit_time_.add(now_() - start);
}

heist::Histogram GroupCommit::commit_time() const {
  const std::lock_guard lock(mutex_);
  return commit_time_.for_metrics();
}

/// What was written and could not be synced would count after a crash, though it has been refused.
/// Whatever is written next takes its place, and need not be synced itself. If even that fails, the
/// next transaction does it.
void GroupCommit::overwrite_refused() noexcept {
  try {
    const auto same = std::to_string(database_.number("PRAGMA user_version"));
    begin(false);
    database_.execute(("PRAGMA user_version = " + same).c_str());
    commit();
  } catch (const std::exception&) {
    roll_back();
  }
}

void GroupCommit::roll_back() noexcept {
  database_.roll_back();
  on_roll_back_();
}

}  // namespace heistd
