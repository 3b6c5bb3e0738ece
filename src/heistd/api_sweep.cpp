// What is done with many finished jobs at once: dead ones are queued again, others forgotten.
#include <heistd/api_storing.hpp>
#include <heistd/job_request.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <new>
#include <utility>
#include <vector>

namespace heistd {

using Effect = JobJournal::Effect;

/// A job of the batch that the journal has been asked about.
struct Api::Asked {
  StoredJob job;
  std::optional<Budget::Ticket> room = {};  ///< of one that is to be queued again
  JournalResult<Effect> answer = Effect::late;
};

/// A request on its way through the list of the client's jobs, a batch after the other: others are
/// served in between, and no transaction of the journal has more of it than a batch.
struct Api::Sweep {
  Client& client;
  JobQuery query;  ///< of the next batch
  bool requeues;   ///< else forgets
  std::vector<Asked> asked = {};
  std::size_t done = 0;
  std::size_t refused = 0;
  std::optional<Refusal> first_refusal = {};
  bool is_over = false;  ///< no batch follows
  std::optional<JournalError> failed = {};
};

/// Tells when the last answer has come to those who share it.
class Api::LastAnswer {
 public:
  explicit LastAnswer(heist::Resolver<void> resolver) noexcept : resolver_(std::move(resolver)) {}
  LastAnswer(const LastAnswer&) = delete;
  LastAnswer& operator=(const LastAnswer&) = delete;
  ~LastAnswer() { resolver_.resolve(); }

 private:
  heist::Resolver<void> resolver_;
};

Result<Api::Step> Api::begin_sweep(const Route& route, const Target& target, Client& client) {
  const bool requeues = route.resource == Resource::jobs_requeue;
  auto query = read_sweep_query(target, requeues);
  if (!query) return query.error();
  if (requeues) {
    if (auto refusal = client.take_request(Clock::now())) return std::move(*refusal);
  }
  query->most = jobs_at_a_time;
  const auto sweep = std::make_shared<Sweep>(Sweep{client, std::move(*query), requeues});
  return std::visit([](auto outcome) { return Step(std::move(outcome)); }, sweep_some(sweep));
}

/// Without a journal no job is dead.
Api::Outcome Api::sweep_some(const std::shared_ptr<Sweep>& sweep) {
  const NetworkReserve::Withheld only_what_is_left;
  if (service_.keeper() == nullptr) return forget_some(sweep);
  auto answer = service_.keeper()->journal().list(sweep->client.name, sweep->query);
  return storing(answer, [this, sweep](const JobPage<StoredJob>& page) -> Outcome {
    choose(*sweep, page);
    return ask_journal(sweep);
  });
}

void Api::choose(Sweep& sweep, const JobPage<StoredJob>& page) const {
  const NetworkReserve::Withheld only_what_is_left;
  sweep.query.after = page.last.value_or(0);
  sweep.is_over = !page.last;
  sweep.asked.reserve(page.jobs.size());
  for (const auto& job : page.jobs) {
    if (!sweep.requeues) {
      choose_to_forget(sweep, job);
    } else if (!choose_to_requeue(sweep, job)) {
      return;
    }
  }
}

/// One that the list is behind with, as it has been queued again or is about to hear of its end,
/// stays as it is.
void Api::choose_to_forget(Sweep& sweep, const StoredJob& job) {
  const auto known = sweep.client.jobs.find(job.id);
  if (!known || known->state() == state_of(job)) sweep.asked.push_back({job});
}

/// False when there is no room for it. A job takes less once it waits, so there may be room when
/// the batch before it is queued; if there is none even then, there may be some for smaller ones.
bool Api::choose_to_requeue(Sweep& sweep, const StoredJob& job) const {
  auto room = room_to_requeue(job, sweep.client);
  if (room) {
    sweep.asked.push_back({job, std::move(*room)});
    return true;
  }
  // A signal that cannot be had concerns this job alone.
  const bool is_full = room.error().status == 503 && room.error().code != "too_many_signals";
  if (is_full && !sweep.asked.empty()) {
    sweep.query.after = job.order - 1;
    sweep.is_over = false;
    return false;
  }
  ++sweep.refused;
  if (!sweep.first_refusal) sweep.first_refusal = room.error();
  if (!is_full || service_.has_room_for_any(sweep.client)) return true;
  sweep.is_over = true;
  return false;
}

void Api::ask_journal(const std::shared_ptr<Sweep>& sweep, Asked& asked,
                      const std::shared_ptr<LastAnswer>& last) {
  const auto& job = asked.job;
  const auto answer = sweep->requeues ? service_.requeue(sweep->client, *kinds_.find(job.kind), job,
                                                         std::move(*asked.room))
                                      : service_.keeper()->journal().purge(job.id);
  service_.keeper()->when(answer, [sweep, &asked, last](JournalResult<Effect> effect) {
    asked.answer = std::move(effect);
  });
}

Storing Api::ask_journal(const std::shared_ptr<Sweep>& sweep) {
  auto answered = heist::Promise<void>::with_resolver();
  const auto last = std::make_shared<LastAnswer>(std::move(answered.resolver));
  Storing storing{answered.promise, [this, sweep] { return take_in(sweep); }};
  try {
    for (auto& asked : sweep->asked) ask_journal(sweep, asked, last);
  } catch (const std::bad_alloc&) {  // those before it are on their way
    sweep->failed = JournalError{JournalFault::out_of_memory, {}};
  }
  return storing;
}

Api::Outcome Api::take_in(const std::shared_ptr<Sweep>& sweep) {
  for (auto& [job, room, answer] : std::exchange(sweep->asked, {})) {
    if (!answer) {
      sweep->failed = std::move(answer).error();
    } else if (*answer == Effect::stored) {
      note_done(*sweep, job.id);
    }
  }
  return go_on(sweep);
}

/// The request has paid for the first one that it queues again.
void Api::note_done(Sweep& sweep, const JobId& id) {
  const bool is_first = sweep.done++ == 0;
  if (!sweep.requeues) {
    forget(sweep.client, id);
  } else if (!is_first) {
    sweep.client.owe_job(Clock::now());
  }
}

Api::Outcome Api::go_on(const std::shared_ptr<Sweep>& sweep) {
  if (sweep->failed) return make_reply(journal_failed(*sweep->failed));
  if (!sweep->is_over) return sweep_some(sweep);
  return MemoryReserve::guard([&sweep] {
    Json json;
    json[sweep->requeues ? "requeued" : "forgotten"] = sweep->done;
    if (sweep->requeues) json["refused"] = sweep->refused;
    if (sweep->first_refusal) json["error"] = error_json(*sweep->first_refusal)["error"];
    return json_reply(200, json);
  });
}

void Api::forget(Client& client, const JobId& id) {
  const auto known = client.jobs.find(id);
  if (known && known->finished()) client.jobs.drop(*known);
  client.events.job_forgotten(id);
}

/// The same where only memory knows the jobs.
Api::Outcome Api::forget_some(const std::shared_ptr<Sweep>& sweep) {
  const auto page = sweep->client.jobs.list(sweep->query);
  for (const auto& job : page.jobs) forget(sweep->client, job->id);
  sweep->done += page.jobs.size();
  sweep->query.after = page.last.value_or(0);
  sweep->is_over = !page.last;
  return Storing{heist::Promise<void>::resolved(), [this, sweep] { return go_on(sweep); }};
}

}  // namespace heistd
