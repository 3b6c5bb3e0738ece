#include <algorithm>
#include <heistd/journal/memory_journal.hpp>
#include <heistd/limits.hpp>
#include <iterator>

namespace heistd {
namespace {

using Effect = JobJournal::Effect;
using Ended = JobJournal::Ended;

template <class T>
JobJournal::Answer<T> answered(T value) {
  return JobJournal::Answer<T>::resolved(std::move(value));
}

std::uint64_t size_of(const SharedBlocks& blocks) noexcept {
  return blocks ? byte_count(*blocks) : 0;
}

std::string part_of(const SharedBlocks& blocks, ByteRange range) {
  std::string part;
  if (!blocks) return part;
  for (const auto& block : *blocks) {
    const auto skipped = std::min<std::uint64_t>(range.offset, block.size());
    part.append(block, skipped, range.size - part.size());
    range.offset -= skipped;
  }
  return part;
}

}  // namespace

MemoryJournal::Entry* MemoryJournal::find_entry(const JobId& id) noexcept {
  const auto found = orders_.find(id);
  return found == orders_.end() ? nullptr : &jobs_.find(found->second)->second;
}

/// Null, and counted as late, when this is not the attempt that the job is at.
MemoryJournal::Entry* MemoryJournal::find_attempt(const JobId& id, Attempt attempt) noexcept {
  auto* const entry = find_entry(id);
  if (entry != nullptr && entry->job.state == StoredState::running &&
      entry->job.attempt == attempt) {
    return entry;
  }
  ++late_ends_;
  return nullptr;
}

JobJournal::Answer<JobJournal::Submitted> MemoryJournal::submit(NewJob job) {
  drop_old_keys();
  if (job.key) {
    const auto found = keys_.find({job.client, job.key->key});
    if (found != keys_.end()) {
      const bool same = found->second.digest == job.key->digest;
      return answered(
          Submitted{same ? Acceptance::repeated : Acceptance::conflicting, found->second.id});
    }
  }
  const auto* const predecessor = job.after.empty() ? nullptr : find_entry(job.after);
  if (!job.after.empty() && (predecessor == nullptr || predecessor->job.client != job.client)) {
    return answered(Submitted{Acceptance::no_predecessor, {}});
  }
  const bool has_ended = predecessor == nullptr || is_end(predecessor->job.state);
  if (predecessor != nullptr && has_ended && predecessor->job.state != StoredState::done) {
    return answered(Submitted{Acceptance::predecessor_failed, {}});
  }
  if (job.key) {
    keys_[{job.client, job.key->key}] = {job.key->digest, job.id, clock_() + idempotency_life};
  }
  Submitted submitted{Acceptance::accepted, job.id, !has_ended};
  add(std::move(job), !has_ended);
  return answered(std::move(submitted));
}

JobJournal::Answer<std::vector<JobJournal::Submitted>> MemoryJournal::submit_all(
    std::vector<NewJob> jobs) {
  std::vector<Submitted> submitted;
  for (auto& job : jobs) submitted.push_back(*submit(std::move(job)).get());
  return answered(std::move(submitted));
}

void MemoryJournal::add(NewJob job, bool follows) {
  orders_[job.id] = ++last_order_;
  Entry& entry = jobs_[last_order_];
  entry.may_start = clock_() + job.delay;
  if (job.ttl) entry.expires_at = clock_() + *job.ttl;
  entry.payload = std::move(job.payload);
  StoredJob& stored = entry.job;
  stored.id = std::move(job.id);
  stored.order = last_order_;
  stored.client = std::move(job.client);
  stored.kind = std::move(job.kind);
  stored.parameters = std::move(job.parameters);
  stored.signal_name = std::move(job.signal_name);
  stored.priority = job.priority;
  stored.timeout = job.timeout;
  stored.after = std::move(job.after);
  stored.follows = follows;
  stored.request_id = job.request_id;
  stored.max_attempts = job.max_attempts;
  stored.key = std::move(job.key);
  stored.payload_bytes = size_of(entry.payload);
  join_signal(stored, job.signal_priority);
}

JobJournal::Answer<std::optional<JobJournal::Started>> MemoryJournal::start(
    JobId id, heist::TaskPriority /*all wait for nothing*/) {
  auto* const entry = find_entry(id);
  if (entry == nullptr || entry->job.state != StoredState::queued || entry->job.follows) {
    return answered<std::optional<Started>>(std::nullopt);
  }
  entry->job.state = StoredState::running;
  return answered<std::optional<Started>>(
      Started{++entry->job.attempt, part_of(entry->payload, {0, block_bytes})});
}

JobJournal::Answer<Ended> MemoryJournal::complete(JobId id, Attempt attempt, StoredResult result) {
  auto* const entry = find_attempt(id, attempt);
  if (entry == nullptr) return answered<Ended>(Effect::late);
  entry->job.error.reset();
  entry->job.result_description = std::move(result.description);
  entry->job.result_bytes = size_of(result.bytes);
  entry->result = std::move(result.bytes);
  end(*entry, StoredState::done);
  trim_all();
  return answered<Ended>(Effect::stored);
}

JobJournal::Answer<Ended> MemoryJournal::fail(
    JobId id, Attempt attempt, StoredError error,
    std::optional<std::chrono::milliseconds> retry_after) {
  auto* const entry = find_attempt(id, attempt);
  if (entry == nullptr) return answered<Ended>(Effect::late);
  Ended ended;
  if (retry_after) {
    ended = fail_attempt(*entry, *retry_after, std::move(error));
  } else {
    entry->job.error = std::move(error);
    ended = end(*entry, StoredState::failed);
  }
  trim_all();
  return answered(std::move(ended));
}

Ended MemoryJournal::fail_attempt(Entry& entry, std::chrono::milliseconds retry_after,
                                  StoredError error) {
  entry.job.error = std::move(error);
  if (!entry.job.has_attempts_left()) return end(entry, StoredState::dead);
  entry.job.state = StoredState::queued;
  entry.may_start = clock_() + retry_after;
  return Effect::stored;
}

JobJournal::Answer<Effect> MemoryJournal::release(JobId id, Attempt attempt) {
  auto* const entry = find_attempt(id, attempt);
  if (entry == nullptr) return answered(Effect::late);
  entry->job.state = StoredState::queued;
  ++entry->job.forgiven;
  return answered(Effect::stored);
}

JobJournal::Answer<Ended> MemoryJournal::abort(JobId id, StoredError why) {
  auto* const entry = find_entry(id);
  if (entry == nullptr || is_end(entry->job.state)) return answered<Ended>(Effect::late);
  entry->job.error = std::move(why);
  auto ended = end(*entry, StoredState::aborted);
  trim_all();
  return answered(std::move(ended));
}

JobJournal::Answer<Effect> MemoryJournal::set_priority(JobId id, heist::TaskPriority priority) {
  auto* const entry = find_entry(id);
  if (entry == nullptr || is_end(entry->job.state) || !entry->job.priority) {
    return answered(Effect::late);
  }
  entry->job.priority = priority;
  return answered(Effect::stored);
}

JobJournal::Answer<Effect> MemoryJournal::requeue(JobId id) {
  auto* const entry = find_entry(id);
  if (entry == nullptr || entry->job.state != StoredState::dead) return answered(Effect::late);
  auto stored = answered(Effect::stored);  // before anything is changed, as it may throw
  auto& job = entry->job;
  if (job.key) {
    drop_old_keys();
    keys_.try_emplace({job.client, job.key->key},
                      Key{job.key->digest, job.id, clock_() + idempotency_life});
  }
  const auto place = ended_.find({*job.ended_at, job.order});
  ended_bytes_ -= place->second;
  ended_.erase(place);
  job.ended_at.reset();
  job.state = StoredState::queued;
  job.forgiven = job.attempt;
  entry->may_start = clock_();
  join_signal(job, StoredSignal().priority);
  return stored;
}

JobJournal::Answer<Effect> MemoryJournal::purge(JobId id) {
  auto* const entry = find_entry(id);
  if (entry == nullptr || !is_end(entry->job.state)) return answered(Effect::late);
  erase(entry->job.order);
  return answered(Effect::stored);
}

JobJournal::Answer<JobJournal::Reclaimed> MemoryJournal::reclaim(Backoff backoff) {
  Reclaimed reclaimed;
  for (auto& [order, entry] : jobs_) {
    if (entry.job.state != StoredState::running) continue;
    const auto left = entry.job.has_attempts_left();
    fail_attempt(entry, backoff(entry.job.attempt - entry.job.forgiven), lost_attempt());
    ++(left ? reclaimed.queued : reclaimed.dead);
  }
  trim_all();
  return answered(reclaimed);
}

JobJournal::Answer<Effect> MemoryJournal::set_signal(std::string client, std::string name,
                                                     heist::TaskPriority priority) {
  auto& signal = signals_[{client, name}].stored;
  signal = {std::move(client), std::move(name), priority, true};
  return answered(Effect::stored);
}

JobJournal::Answer<Ended> MemoryJournal::drop_signal(std::string client, std::string name) {
  if (!signals_.contains({client, name})) return answered<Ended>(Effect::late);
  AbortedFollowers aborted{client, {}};
  for (auto& [order, entry] : jobs_) {
    const auto& job = entry.job;
    if (!is_end(job.state) && job.client == client && job.signal_name == name) {
      entry.job.error = aborted_because(signal_deleted);
      const auto ended = end(entry, StoredState::aborted);
      if (ended.followers) std::ranges::copy(ended.followers->ids, std::back_inserter(aborted.ids));
    }
  }
  signals_.erase({client, name});
  pauses_.erase({StoredPause::Of::signal, {client, name}});
  trim_all();
  return answered(Ended(std::move(aborted)));
}

JobJournal::Answer<Effect> MemoryJournal::set_pause(StoredPause what, bool on,
                                                    heist::TaskPriority signal_priority) {
  const Name name{what.client, what.name};
  if (what.of == StoredPause::Of::signal) {
    auto& signal = signals_[name].stored;
    if (signal.name.empty()) signal = {what.client, what.name, signal_priority, true};
    signal.was_put = true;
  }
  if (on) {
    pauses_.emplace(what.of, name);
  } else {
    pauses_.erase({what.of, name});
  }
  return answered(Effect::stored);
}

JobJournal::Answer<std::vector<StoredPause>> MemoryJournal::pauses() {
  std::vector<StoredPause> all;
  for (const auto& [of, name] : pauses_) all.push_back({name.first, of, name.second});
  return answered(std::move(all));
}

JobJournal::Answer<std::vector<StoredSignal>> MemoryJournal::signals() {
  std::vector<StoredSignal> all;
  for (const auto& [name, signal] : signals_) all.push_back(signal.stored);
  return answered(std::move(all));
}

StoredJob MemoryJournal::told(const Entry& entry) const {
  auto job = entry.job;
  if (is_end(job.state)) return job;
  const auto left_until = [this](SystemTime time) {
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(time - clock_()),
                    std::chrono::milliseconds(0));
  };
  job.delay = left_until(entry.may_start);
  if (entry.expires_at && job.attempt == 0) job.ttl = left_until(*entry.expires_at);
  return job;
}

JobJournal::Answer<std::optional<StoredJob>> MemoryJournal::find(JobId id) {
  const auto* const entry = find_entry(id);
  return answered<std::optional<StoredJob>>(entry == nullptr ? std::nullopt
                                                             : std::optional(told(*entry)));
}

JobJournal::Answer<std::size_t> MemoryJournal::count_unfinished() {
  return answered(jobs_.size() - ended_.size());
}

JobJournal::Answer<std::vector<StoredJob>> MemoryJournal::load_unfinished(AcceptanceOrder after,
                                                                          std::size_t most) {
  std::vector<StoredJob> loaded;
  for (auto place = jobs_.upper_bound(after); place != jobs_.end() && loaded.size() < most;
       ++place) {
    if (!is_end(place->second.job.state)) loaded.push_back(told(place->second));
  }
  return answered(std::move(loaded));
}

JobJournal::Answer<std::vector<StoredJob>> MemoryJournal::load_ended(std::string client,
                                                                     EndPlace before,
                                                                     std::size_t most) {
  std::vector<StoredJob> found;
  auto place = ended_.lower_bound({before.time, before.order});
  while (place != ended_.begin() && found.size() < most) {
    --place;
    const auto& entry = jobs_.at(place->first.second);
    if (entry.job.client == client) found.push_back(told(entry));
  }
  return answered(std::move(found));
}

JobJournal::Answer<JobPage<StoredJob>> MemoryJournal::list(std::string client, JobQuery query) {
  JobPage<StoredJob> page;
  for (auto place = jobs_.upper_bound(query.after); place != jobs_.end(); ++place) {
    const auto job = told(place->second);
    if (job.client != client || (query.state && state_of(job) != *query.state) ||
        (!query.kind.empty() && job.kind != query.kind) ||
        (!query.signal_name.empty() && job.signal_name != query.signal_name)) {
      continue;
    }
    if (page.jobs.size() == query.most) {
      page.last = page.jobs.back().order;
      break;
    }
    page.jobs.push_back(job);
  }
  return answered(std::move(page));
}

JobJournal::Answer<std::string> MemoryJournal::read_payload(JobId id, ByteRange range) {
  const auto* const entry = find_entry(id);
  return answered(entry == nullptr ? std::string() : part_of(entry->payload, range));
}

JobJournal::Answer<std::string> MemoryJournal::read_result(JobId id, ByteRange range) {
  const auto* const entry = find_entry(id);
  return answered(entry == nullptr ? std::string() : part_of(entry->result, range));
}

/// A job is accepted later than the one that it follows, so one look at the later ones is enough.
Ended MemoryJournal::end(Entry& entry, StoredState state) {
  AbortedFollowers aborted{entry.job.client, {}};
  end_alone(entry, state);
  std::set<JobId> failed;
  if (state != StoredState::done) failed.insert(entry.job.id);
  for (auto later = jobs_.upper_bound(entry.job.order); later != jobs_.end(); ++later) {
    auto& job = later->second.job;
    if (!job.follows) continue;
    if (failed.contains(job.after)) {
      job.error = predecessor_failed(job.after);
      end_alone(later->second, StoredState::aborted);
      failed.insert(job.id);
      aborted.ids.push_back(job.id);
    } else if (job.after == entry.job.id) {
      job.follows = false;
    }
  }
  return Ended(std::move(aborted));
}

void MemoryJournal::end_alone(Entry& entry, StoredState state) {
  auto& job = entry.job;
  job.follows = false;
  job.state = state;
  job.ended_at = clock_();
  // A dead job may be queued again.
  if (state != StoredState::dead) entry.payload.reset();
  if (state == StoredState::dead || state == StoredState::aborted) free_key(job);
  leave_signal(job);
  const auto bytes = finished_record_bytes + size_of(entry.payload) + size_of(entry.result);
  ended_.emplace(std::pair(*job.ended_at, job.order), bytes);
  ended_bytes_ += bytes;
}

void MemoryJournal::drop_old_keys() {
  std::erase_if(keys_, [now = clock_()](const auto& key) { return key.second.until <= now; });
}

void MemoryJournal::free_key(const StoredJob& job) {
  if (!job.key) return;
  const auto found = keys_.find({job.client, job.key->key});
  if (found != keys_.end() && found->second.id == job.id) keys_.erase(found);
}

void MemoryJournal::join_signal(const StoredJob& job, heist::TaskPriority priority_of_new) {
  if (job.signal_name.empty()) return;
  auto& signal = signals_[{job.client, job.signal_name}];
  if (signal.stored.name.empty()) {
    signal.stored = {job.client, job.signal_name, priority_of_new, false};
  }
  ++signal.unfinished;
}

/// A name that was only mentioned goes with the last unfinished job of it.
void MemoryJournal::leave_signal(const StoredJob& job) {
  const auto found = signals_.find({job.client, job.signal_name});
  if (found == signals_.end()) return;
  if (--found->second.unfinished == 0 && !found->second.stored.was_put) signals_.erase(found);
}

JobJournal::Answer<std::size_t> MemoryJournal::trim() { return answered(trim_all()); }

std::size_t MemoryJournal::trim_all() {
  std::size_t dropped = 0;
  for (; const auto job = next_to_drop(); ++dropped) erase(*job);
  return dropped;
}

/// As is said of JournalBounds.
std::optional<AcceptanceOrder> MemoryJournal::next_to_drop() const {
  if (ended_.empty()) return std::nullopt;
  if (ended_.begin()->first.first < clock_() - bounds_.finished_age) {
    return ended_.begin()->first.second;
  }
  if (ended_bytes_ <= bounds_.finished_bytes) return std::nullopt;
  std::uint64_t dead_bytes = 0;
  std::optional<AcceptanceOrder> dead;
  std::optional<AcceptanceOrder> other;
  for (const auto& [place, bytes] : ended_) {
    const bool is_dead = jobs_.at(place.second).job.state == StoredState::dead;
    if (is_dead) dead_bytes += bytes;
    auto& first = is_dead ? dead : other;
    if (!first && place != ended_.rbegin()->first) first = place.second;
  }
  return (dead && dead_bytes > bounds_.finished_bytes / 2) || !other ? dead : other;
}

void MemoryJournal::erase(AcceptanceOrder order) {
  const auto place = jobs_.find(order);
  const auto ended = ended_.find({*place->second.job.ended_at, order});
  ended_bytes_ -= ended->second;
  ended_.erase(ended);
  orders_.erase(place->second.job.id);
  jobs_.erase(place);
}

}  // namespace heistd
