#include <algorithm>
#include <heistd/journal/starter_thread.hpp>
#include <utility>

namespace heistd {

StarterThread::StarterThread()
    : thread_("heistd-starts", [this](JournalThread::Tasks tasks) { run(std::move(tasks)); }) {}

void StarterThread::post(heist::TaskPriority priority, std::unique_ptr<JournalTask> task) {
  task->priority = priority;
  thread_.post(std::move(task));
}

void StarterThread::run(JournalThread::Tasks tasks) noexcept {
  while (!tasks.empty()) {
    auto more = thread_.take();
    tasks.splice(tasks.end(), more);
    const auto first =
        std::ranges::max_element(tasks, {}, [](const auto& task) { return task->priority; });
    do_alone(**first);
    tasks.erase(first);
  }
}

}  // namespace heistd
