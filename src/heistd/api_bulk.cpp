// Many jobs in one request: all of them are looked at before the first is accepted.
#include <algorithm>
#include <heistd/api_storing.hpp>
#include <heistd/bulk_reader.hpp>
#include <heistd/kept_job.hpp>
#include <heistd/limits.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace heistd {

using Submitted = JobJournal::Submitted;
using Acceptance = JobJournal::Acceptance;

/// A request on its way. Its steps are short, as others are served in between.
struct Api::Bulk {
  /// What becomes of a line: a job to accept, then its id; or a refusal.
  struct Entry {
    std::optional<KeptJob> job;
    JobId id;
    bool repeated = false;
    std::optional<Refusal> refusal;
  };

  Bulk(Client& its_client, Budget::Ticket its_memory) noexcept
      : client(its_client), memory(std::move(its_memory)) {}

  Client& client;
  std::optional<Budget::Ticket> memory;  ///< of the body, until the jobs have tickets of their own
  std::string request_id;
  std::shared_ptr<BulkReader> reader;
  std::vector<Entry> entries;       ///< of the reader's items
  std::set<std::string> signals;    ///< that are to be made
  std::size_t next = 0;             ///< the entry at which a step goes on
  std::size_t accepted = 0;         ///< jobs that it has brought
  std::vector<NewJob> jobs;         ///< that the journal is to be asked for
  std::vector<std::size_t> stored;  ///< their entries
  std::vector<Submitted> answers;   ///< the journal's
  std::optional<JobJournal::Answer<JobJournal::Ended>> last_abort;

  [[nodiscard]] std::vector<BulkItem>& items() const noexcept { return reader->items; }
  [[nodiscard]] std::size_t end_of_step() const noexcept {
    return std::min(next + bulk_jobs_at_a_time, items().size());
  }
};

namespace {

/// All or nothing: what was taken for other jobs is given back.
Refusal too_many(std::size_t jobs) {
  return unavailable("queue_full", "there is no room for all " + std::to_string(jobs) +
                                       " jobs beside this client's unfinished ones; none of them "
                                       "was accepted");
}

std::string text_of(const Json& json) {
  return MemoryReserve::guard([&json] { return line(json); });
}

}  // namespace

Result<Api::Step> Api::begin_bulk(const RequestHead& head, const Target& target, Client& client) {
  const NetworkReserve::Withheld only_what_is_left;
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  if (auto refusal = client.take_request(Clock::now())) return std::move(*refusal);
  auto ticket = take_job(client);
  if (!ticket) return ticket.error();
  return announce(head,
                  Upload(client, {.request_id = std::string(head.request_id)}, std::move(*ticket),
                         limits_.max_body, service_.disposal_for(client)));
}

/// Agents read the lines, as that takes longer than the network may.
Api::Outcome Api::finish_bulk(Upload upload) {
  const NetworkReserve::Withheld only_what_is_left;
  auto key = upload.take_key();
  auto ticket = upload.take_ticket();
  const auto bulk = std::make_shared<Bulk>(upload.client(), ticket.split(0));
  bulk->request_id = upload.request().request_id;
  bulk->reader = std::make_shared<BulkReader>(
      upload.take_blocks(), key ? std::optional(std::move(key->key)) : std::nullopt);
  auto read = service_.read_bulk(bulk->client, bulk->reader);
  if (!read) return make_reply(read.error());
  return Storing{std::move(*read), [this, bulk]() -> Outcome {
                   auto& reader = *bulk->reader;
                   if (!reader.has_ended) {
                     return make_reply(unavailable("shutting_down", "the server is shutting down"));
                   }
                   if (reader.refusal) return make_reply(*reader.refusal);
                   bulk->entries.resize(reader.items.size());
                   return judge_some(bulk);
                 }};
}

Storing Api::later(const std::shared_ptr<Bulk>& bulk,
                   Outcome (Api::*step)(const std::shared_ptr<Bulk>&)) {
  return {heist::Promise<void>::resolved(),
          [this, bulk, step]() -> Outcome { return (this->*step)(bulk); }};
}

Api::Outcome Api::judge_some(const std::shared_ptr<Bulk>& bulk) {
  const NetworkReserve::Withheld only_what_is_left;
  if (service_.shutting_down()) {
    return make_reply(unavailable("shutting_down", "the server is shutting down"));
  }
  for (const auto end = bulk->end_of_step(); bulk->next < end; ++bulk->next) {
    if (auto refusal = take_on(*bulk, bulk->next)) return make_reply(*refusal);
  }
  if (bulk->next < bulk->items().size()) return later(bulk, &Api::judge_some);
  bulk->next = 0;
  bulk->memory.reset();
  return begin_all(bulk);
}

/// Makes a line a job that has all that it needs, or refuses it. What is given has all of them
/// refused.
std::optional<Refusal> Api::take_on(Bulk& bulk, std::size_t index) {
  auto& item = bulk.items()[index];
  auto& entry = bulk.entries[index];
  const auto refuse = [&entry](Refusal refusal) {
    entry.refusal = std::move(refusal);
    return std::nullopt;
  };
  if (item.refusal) return refuse(std::move(*item.refusal));
  const auto* const kind = kinds_.find(item.kind);
  if (kind == nullptr) return refuse({404, "no_kind", "there is no such kind of jobs", "kind"});
  auto request = read_job_request(*kind, item.target, bulk.client);
  if (!request) return refuse(request.error());
  request->request_id = bulk.request_id;
  if (item.key && service_.keeper() == nullptr) {
    return refuse({400, "no_journal", "this server keeps no keys: it runs without --data",
                   "idempotency_key"});
  }
  const auto* const verdict = bulk.client.verdicts.find(checked_text(*kind, request->parameters));
  if (verdict != nullptr && verdict->refusal) return refuse(*verdict->refusal);
  if (!request->signal_name.empty() && !bulk.client.signals.find(request->signal_name)) {
    bulk.signals.insert(request->signal_name);
  }
  if (bulk.client.signals.all().size() + bulk.signals.size() > max_signals) {
    return unavailable("too_many_signals",
                       "there is no room for all signal names of these jobs; "
                       "none of them was accepted");
  }
  const auto bytes = byte_count(item.payload);
  auto ticket = bulk.client.budget->take_job();
  if (!ticket || !ticket->grow(bytes) || service_.reserve(*request, bytes, *ticket) ||
      (service_.stores_uploads() && !ticket->store(bytes))) {
    return too_many(bulk.items().size());
  }
  entry.job.emplace(
      KeptJob{bulk.client, std::move(*request), std::move(*ticket), make_job_id(), bytes});
  if (service_.keeper() != nullptr) {
    bulk.jobs.push_back(new_job(*entry.job, std::move(item.key), std::move(item.payload)));
    bulk.stored.push_back(index);
  }
  return std::nullopt;
}

/// The journal has all of them, or none, before the first begins.
Api::Outcome Api::begin_all(const std::shared_ptr<Bulk>& bulk) {
  if (service_.keeper() == nullptr) return begin_some(bulk);
  if (bulk->jobs.empty()) return end_bulk(bulk);
  auto answer = service_.keeper()->journal().submit_all(std::move(bulk->jobs));
  return storing(answer, [this, bulk](std::vector<Submitted> answers) -> Outcome {
    bulk->answers = std::move(answers);
    return begin_some(bulk);
  });
}

Api::Outcome Api::begin_some(const std::shared_ptr<Bulk>& bulk) {
  const bool is_kept = service_.keeper() != nullptr;
  const auto last = is_kept ? bulk->stored.size() : bulk->entries.size();
  const auto end = std::min(bulk->next + bulk_jobs_at_a_time, last);
  for (; bulk->next < end; ++bulk->next) {
    begin_one(*bulk, is_kept ? bulk->stored[bulk->next] : bulk->next);
  }
  if (bulk->next < last) return later(bulk, &Api::begin_some);
  if (!bulk->last_abort) return end_bulk(bulk);
  // A kill of the server must not bring about what is told as refused.
  return storing(*bulk->last_abort,
                 [this, bulk](const auto&) -> Outcome { return end_bulk(bulk); });
}

void Api::begin_one(Bulk& bulk, std::size_t index) {
  auto& entry = bulk.entries[index];
  if (!entry.job) return;
  auto& job = *entry.job;
  Result<std::shared_ptr<Job>> begun = nullptr;
  entry.id = job.id;
  if (service_.keeper() == nullptr) {
    begun = service_.submit_reserved(bulk.client, job.request,
                                     std::move(bulk.items()[index].payload), std::move(job.ticket));
    if (begun) entry.id = (*begun)->id;
  } else {
    const auto& answer = bulk.answers[bulk.next];
    entry.id = answer.id;
    entry.repeated = answer.acceptance == Acceptance::repeated;
    if (answer.acceptance == Acceptance::conflicting) {
      entry.refusal =
          Refusal{422, "idempotency_conflict",
                  "the key was given with another request, of job " + answer.id, "idempotency_key"};
    }
    if (auto refusal = refusal_of(answer, job.request.after)) entry.refusal = std::move(refusal);
    job.request.follows = answer.follows;
    if (answer.acceptance != Acceptance::accepted) return entry.job.reset();
    begun =
        service_.submit_kept(bulk.client, job.request, job.id, job.bytes, std::move(job.ticket));
    if (begun && !*begun) bulk.client.events.job_changed(waiting_summary(job));
    if (!begun && !service_.shutting_down()) {
      const auto why = aborted_because("the server had no room for the job");
      service_.keeper()->abort(job.id, why);
      bulk.last_abort = service_.keeper()->journal().abort(job.id, why);
    }
  }
  const bool is_for_next_server = service_.keeper() != nullptr && service_.shutting_down();
  if (!begun && !is_for_next_server) entry.refusal = begun.error();
  if (!entry.refusal && bulk.accepted++ > 0) bulk.client.owe_job(Clock::now());
  entry.job.reset();
}

Api::Outcome Api::end_bulk(const std::shared_ptr<Bulk>& bulk) {
  const NetworkReserve::Withheld only_what_is_left;
  std::size_t refused = 0;
  std::string jobs;
  for (const auto& entry : bulk->entries) {
    if (!jobs.empty()) jobs += ",\n";
    if (entry.refusal) {
      ++refused;
      jobs += text_of(error_json(*entry.refusal));
    } else {
      jobs += "{\"id\":\"" + entry.id + (entry.repeated ? "\",\"repeated\":true}" : "\"}");
    }
  }
  const auto accepted = bulk->entries.size() - refused;
  Reply reply;
  reply.status = accepted > 0 ? 202 : 400;
  std::string text = "{";
  if (accepted == 0) {
    const Refusal none{400, "no_good_job",
                       "none of the jobs can be accepted; this is said of the first: " +
                           bulk->entries.front().refusal->message};
    text += "\"error\":" + text_of(error_json(none)["error"]) + ",";
  }
  text += "\"accepted\":" + std::to_string(accepted) + ",\"refused\":" + std::to_string(refused);
  reply.body = {text + ",\"jobs\":[\n" + jobs + "\n]}\n"};
  return reply;
}

}  // namespace heistd
