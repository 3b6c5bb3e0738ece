// Requests that the journal is to have before they take effect.
#include <heistd/api.hpp>
#include <heistd/limits.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/routes.hpp>
#include <utility>

namespace heistd {
namespace {

/// A job whose upload is over, until the journal has it.
struct Kept {
  Client& client;
  JobRequest request;
  Budget::Ticket ticket;
  Quota::Share share;
  JobId id;
  std::size_t bytes;
};

NewJob new_job(const Kept& kept, Blocks body) {
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
  job.max_attempts = request.max_attempts;
  job.payload = std::make_shared<const Blocks>(std::move(body));
  return job;
}

}  // namespace

template <class T, class Then>
Storing Api::storing(const heist::Promise<JournalResult<T>>& answer, Then then) const {
  auto result = std::make_shared<JournalResult<T>>();
  auto answered = heist::Promise<void>::with_resolver();
  service_.keeper()->when(
      answer, [result, resolver = std::move(answered.resolver)](JournalResult<T> given) mutable {
        *result = std::move(given);
        resolver.resolve();
      });
  return {answered.promise, [result, then]() -> std::variant<Reply, Waiting> {
            if (*result) return then();
            return make_reply(unavailable(
                "journal_failed", "the journal cannot keep this: " + describe(result->error())));
          }};
}

Result<std::variant<Reply, Waiting, Storing>> Api::store(Upload upload) {
  const NetworkReserve::Withheld only_what_is_left;
  auto body = upload.take_blocks();
  const auto kept =
      std::make_shared<Kept>(Kept{upload.client(), upload.request(), upload.take_ticket(),
                                  upload.take_wait(), make_job_id(), byte_count(body)});
  if (auto refusal = service_.reserve(kept->request, kept->bytes, kept->ticket)) {
    return std::move(*refusal);
  }
  auto answer = service_.keeper()->journal().submit(new_job(*kept, std::move(body)));
  return storing(answer, [this, kept]() -> std::variant<Reply, Waiting> {
    auto job = service_.submit_kept(kept->client, kept->request, kept->id, kept->bytes,
                                    std::move(kept->ticket));
    if (!job) return make_reply(job.error());
    return accepted(kept->client, std::move(*job), kept->request.wait, std::move(kept->share));
  });
}

/// What has been answered is so after the next start, too.
Result<Api::Step> Api::store_change(const Route& route, const Target& target, Client& client) {
  if (route.method == Method::erase) {
    if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
    return store_erasure(route, client);
  }
  const auto priority = read_signal_priority(target, client);
  if (!priority) return priority.error();
  auto answer = service_.keeper()->journal().set_signal(client.name, route.name, *priority);
  return Step(storing(answer, [this, route, target, &client]() -> std::variant<Reply, Waiting> {
    auto put = put_signal(route, target, client);
    return put ? std::move(*put) : make_reply(put.error());
  }));
}

Result<Api::Step> Api::store_erasure(const Route& route, Client& client) {
  auto& journal = service_.keeper()->journal();
  const auto then = [this, route, &client]() -> std::variant<Reply, Waiting> {
    auto erased = handle_plain(route, client);
    return erased ? std::move(*erased) : make_reply(erased.error());
  };
  if (route.resource == Resource::signal) {
    if (!client.signals.find(route.name)) return not_found("this client has no such signal");
    return Step(storing(journal.drop_signal(client.name, route.name), then));
  }
  const auto job = service_.find(client, route.name);
  if (!job) return not_found("this client has no such job");
  return Step(storing(job->finished() ? journal.purge(job->id) : journal.abort(job->id), then));
}

}  // namespace heistd
