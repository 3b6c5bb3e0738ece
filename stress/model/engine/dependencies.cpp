#include "dependencies.hpp"

namespace heist::model {

using namespace detail;

void Dependencies::forget_all() noexcept {
  steps_.clear();
  objects_.forget_all();
  clocks_.fill({});
  run_choice_ = Path::none;
}

void Dependencies::spawned(ThreadId parent, ThreadId child) noexcept {
  clocks_[static_cast<std::size_t>(child)] = clocks_[static_cast<std::size_t>(parent)];
}

void Dependencies::joined(ThreadId thread, ThreadId finished) noexcept {
  clocks_[static_cast<std::size_t>(thread)].join(clocks_[static_cast<std::size_t>(finished)]);
}

void Dependencies::compare(std::int32_t earlier, ThreadId earlier_thread, ThreadId thread,
                           Path& path) {
  if (earlier == none) return;
  const Step& step = steps_[static_cast<std::size_t>(earlier)];
  if (clocks_[static_cast<std::size_t>(thread)].covers(earlier_thread, step.count)) return;
  path.reconsider(step.choice, thread);
  path.reconsider(step.run_choice, thread);
}

void Dependencies::step(ThreadId thread, const void* object, bool writes, std::size_t choice,
                        Path& path) {
  Object& on = objects_[reinterpret_cast<std::uintptr_t>(object)].entry;
  for (ThreadId other = 0; other < max_threads; ++other) {
    if (other == thread) continue;
    compare(on.last_write[static_cast<std::size_t>(other)], other, thread, path);
    if (writes) compare(on.last_read[static_cast<std::size_t>(other)], other, thread, path);
  }
  VectorClock& clock = clocks_[static_cast<std::size_t>(thread)];
  clock.join(on.writes);
  if (writes) clock.join(on.reads);
  const Epoch count = ++clock[thread];
  (writes ? on.writes : on.reads).join(clock);
  auto& last = writes ? on.last_write : on.last_read;
  last[static_cast<std::size_t>(thread)] = static_cast<std::int32_t>(steps_.size());
  steps_.push_back({count, choice, run_choice_});
}

}  // namespace heist::model
