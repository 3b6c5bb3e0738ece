// Lists of jobs, and jobs that only the journal has.
#include <heistd/api_storing.hpp>
#include <heistd/job_request.hpp>
#include <heistd/job_text.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <utility>

namespace heistd {
namespace {

using Effect = JobJournal::Effect;

std::string guarded_text(const JobSummary& job) {
  return MemoryReserve::guard([&job] { return summary_text(job); });
}

Refusal not_dead(JobState state) {
  return {409, "not_dead",
          "the job is " + std::string(to_string(state)) + ", and only a dead one is queued again"};
}

/// Why a job cannot be forgotten that has not ended for the journal. Memory may know that it was
/// aborted before the journal can store that; of any other end it hears from there.
Refusal not_purged(const Job* in_memory) {
  if (in_memory != nullptr && in_memory->state() == JobState::aborted) {
    return unavailable("journal_failed",
                       "the job was aborted, which the journal has not been able to store yet; ask "
                       "again when it can be written");
  }
  return {409, "queued_again",
          "the job was queued again at the same time; ask once more to delete it as it is now"};
}

}  // namespace

/// The journal has what memory may not keep: the older ones of the finished jobs.
Result<Api::Step> Api::list(const Target& target, Client& client) {
  const NetworkReserve::Withheld only_what_is_left;
  const auto query = read_job_query(target, cursor_);
  if (!query) return query.error();
  std::vector<std::string> texts;
  if (service_.keeper() == nullptr) {
    const auto page = client.jobs.list(*query);
    for (const auto& job : page.jobs) texts.push_back(guarded_text(summary_of(*job)));
    return Step(list_reply(texts, page.last));
  }
  auto answer = service_.keeper()->journal().list(client.name, *query);
  return Step(storing(answer, [this, &client](const JobPage<StoredJob>& page) -> Outcome {
    const NetworkReserve::Withheld only_what_is_left;
    std::vector<std::string> texts;
    for (const auto& job : page.jobs) texts.push_back(guarded_text(summary_of(job, client)));
    return list_reply(texts, page.last);
  }));
}

Reply Api::list_reply(const std::vector<std::string>& jobs,
                      std::optional<AcceptanceOrder> last) const {
  std::string text = "{\"jobs\":[";
  for (const auto& job : jobs) text += (&job == &jobs.front() ? "" : ",") + job + "\n";
  text += "]";
  if (last) text += ",\"cursor\":\"" + cursor_.seal(*last) + "\"";
  Reply reply;
  reply.body = {text + "}\n"};
  return reply;
}

/// A job that goes on may have come to memory meanwhile.
Api::Outcome Api::erase_stored(const StoredJob& job, Client& client) {
  if (is_end(job.state)) {
    return purge(job.id, client,
                 [job, &client] { return summary_reply(200, summary_of(job, client)); });
  }
  auto& journal = service_.keeper()->journal();
  return storing(journal.abort(job.id, aborted_because(job_deleted)),
                 [this, job, &client](Effect effect) -> Outcome {
                   const auto now = service_.find(client, job.id);
                   if (now) return abort_job(*now, client);
                   // It has ended meanwhile in another way, of which others have told.
                   if (effect == Effect::late) return describe_stored(job.id, client);
                   service_.abort_waiting(client, job.id);
                   auto last = job;
                   last.state = StoredState::aborted;
                   last.error = aborted_because(job_deleted);
                   service_.tell_end_of_waiting(client, summary_of(last, client));
                   return summary_reply(200, summary_of(last, client));
                 });
}

/// Forgets a finished job, if it is one for the journal as well.
Storing Api::purge(const JobId& id, Client& client, std::function<Reply()> describe) {
  return storing(service_.keeper()->journal().purge(id),
                 [this, id, &client, describe = std::move(describe)](Effect effect) -> Outcome {
                   if (effect == Effect::late) return purge_late(id, client, describe);
                   forget(client, id);
                   return describe();
                 });
}

/// The journal may have forgotten the job before memory does, or have its end by now.
Storing Api::purge_late(const JobId& id, Client& client, std::function<Reply()> describe) {
  return storing(service_.keeper()->journal().find(id),
                 [this, id, &client,
                  describe = std::move(describe)](const std::optional<StoredJob>& left) -> Outcome {
                   if (left && is_end(left->state)) return purge(id, client, describe);
                   if (left) return make_reply(not_purged(service_.find(client, id).get()));
                   forget(client, id);
                   return describe();
                 });
}

Result<Api::Step> Api::requeue(const Route& route, const Target& target, Client& client) {
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  const auto job = service_.find(client, route.name);
  if (job && job->state() != JobState::dead) return not_dead(job->state());
  if (service_.keeper() == nullptr) return no_such_job();
  if (auto refusal = client.take_request(Clock::now())) return std::move(*refusal);
  return Step(find_stored(route.name, client, [this, &client](const StoredJob& stored) {
    return requeue_stored(stored, client);
  }));
}

Api::Outcome Api::requeue_stored(const StoredJob& job, Client& client) {
  if (job.state != StoredState::dead) return make_reply(not_dead(state_of(job)));
  auto room = room_to_requeue(job, client);
  if (!room) return make_reply(room.error());
  return storing(service_.requeue(client, *kinds_.find(job.kind), job, std::move(*room)),
                 [queued = queued_anew(job), &client](Effect effect) -> Outcome {
                   if (effect == Effect::late) return make_reply(not_dead(JobState::queued));
                   return with_location(summary_reply(202, summary_of(queued, client)), queued.id);
                 });
}

/// What a dead job takes once it is queued again, until then.
Result<Budget::Ticket> Api::room_to_requeue(const StoredJob& job, Client& client) const {
  const auto* const kind = kinds_.find(job.kind);
  if (kind == nullptr || !takes(*kind, job.parameters)) {
    return Refusal{409, "no_kind",
                   "this server has no jobs of the kind " + job.kind + " with such parameters"};
  }
  return service_.take_room(client, request_of(job, *kind), job.payload_bytes);
}

}  // namespace heistd
