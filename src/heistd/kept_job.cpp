#include <heistd/kept_job.hpp>
#include <memory>
#include <utility>

namespace heistd {

NewJob new_job(const KeptJob& kept, std::optional<IdempotencyKey> key, Blocks body) {
  const auto& request = kept.request;
  NewJob job;
  job.id = kept.id;
  job.client = kept.client.name;
  job.kind = request.kind->name;
  job.parameters.assign(request.parameters.begin(), request.parameters.end());
  job.signal_name = request.signal_name;
  job.priority = request.priority;
  job.signal_priority = kept.client.default_priority();
  if (request.signal_name.empty() && !job.priority) job.priority = job.signal_priority;
  job.delay = request.delay;
  job.ttl = request.ttl;
  job.timeout = request.timeout;
  job.after = request.after;
  job.max_attempts = request.max_attempts;
  job.request_id = request.request_id;
  job.key = std::move(key);
  job.payload = std::make_shared<const Blocks>(std::move(body));
  return job;
}

JobSummary waiting_summary(const KeptJob& kept) {
  const auto& request = kept.request;
  const auto group = kept.client.signals.find(request.signal_name);
  const auto other_priority = group ? group->priority() : kept.client.default_priority();
  return {kept.id,
          request.kind->name,
          request.delay.count() > 0 || request.follows ? JobState::delayed : JobState::queued,
          request.priority.value_or(other_priority),
          kept.bytes,
          request.signal_name,
          {.most = request.max_attempts},
          {},
          request.ttl,
          request.timeout,
          request.after,
          request.request_id};
}

}  // namespace heistd
