// How jobs and signals get other priorities.
#include <heistd/job_service.hpp>
#include <utility>

namespace heistd {

/// The rest follows in later steps; when there is no memory for one, as jobs of the group end.
void JobService::follow_next_batch(Client& client, const std::shared_ptr<SignalGroup>& group) {
  if (!group->follow_some() || group->is_following) return;
  group->is_following = do_later([this, &client, group] {
    group->is_following = false;
    follow_next_batch(client, group);
  });
}

void JobService::set_priority(Client& client, Job& job, heist::TaskPriority priority) {
  auto& mine = *job.unfinished;
  if (mine.asking || mine.held) {
    const auto to = JobLine::ahead_of(line_of(client, job, priority));
    if (priority != job.priority()) take_new_turn(client, job);
    if (mine.asking) mine.asking->move(to);
    if (mine.held) mine.held->move(to, mine.turn);
  }
  auto& before = job.progress->counts();
  const auto now = client.counts_of(priority);
  mine.controller.set_priority(priority);
  const auto place = now->add(mine.place_in_counts.has_value(), job.runnable_at);
  const bool started = job.progress->count_in(*now);
  before.remove(std::exchange(mine.place_in_counts, place), started);
  if (started) now->note_start();
  job.fixed_priority = priority;
  if (const auto kept = client.jobs.find(job.id)) starts_.move(kept);
  move_waiting(client, job.id, priority);
  client.events.job_changed(job);
}

Result<std::shared_ptr<SignalGroup>> JobService::put_group(Client& client, std::string_view name,
                                                           heist::TaskPriority priority) {
  if (auto refusal = refuse_signal(client, name)) return std::move(*refusal);
  auto group = client.signals.find_or_make(name, priority);
  group->was_put = true;
  move_group(client, name, group, priority);
  return group;
}

void JobService::move_group(Client& client, std::string_view name,
                            const std::shared_ptr<SignalGroup>& group,
                            heist::TaskPriority priority) {
  group->set_priority(priority);
  client.events.signal_changed(name, *group);
  follow_next_batch(client, group);
  starts_.start_some();
  post_waiting(client);
}

}  // namespace heistd
