#include <algorithm>
#include <heistd/journal/starter_thread.hpp>
#include <utility>

namespace heistd {

StarterThread::StarterThread()
    : thread_("heistd-starts", [this](JournalThread::Tasks tasks) { run(std::move(tasks)); }) {}

void StarterThread::post(heist::TaskPriority priority, std::unique_ptr<JournalTask> task) {
  task->priority = priority;
  count(priority, 1);
  try {
    thread_.post(std::move(task));
  } catch (...) {
    count(priority, -1);
    throw;
  }
}

bool StarterThread::has(heist::TaskPriority priority) const noexcept {
  const std::lock_guard lock(mutex_);
  return unanswered_.at(static_cast<std::size_t>(priority)) > 0;
}

void StarterThread::run(JournalThread::Tasks tasks) noexcept {
  while (!tasks.empty()) {
    auto more = thread_.take();
    tasks.splice(tasks.end(), more);
    const auto first =
        std::ranges::max_element(tasks, {}, [](const auto& task) { return task->priority; });
    do_alone(**first);
    count((*first)->priority, -1);
    tasks.erase(first);
  }
}

void StarterThread::count(heist::TaskPriority priority, int change) noexcept {
  const std::lock_guard lock(mutex_);
  unanswered_.at(static_cast<std::size_t>(priority)) += change;
}

}  // namespace heistd
