// How the upload of a new job is taken.
#include <heistd/api_storing.hpp>
#include <heistd/job_request.hpp>
#include <heistd/network_reserve.hpp>
#include <utility>

namespace heistd {

Result<Api::Step> Api::begin_upload(const Route& route, const RequestHead& head,
                                    const Target& target, Client& client, Unchecked unchecked) {
  const NetworkReserve::Withheld only_what_is_left;
  auto request = read_job_request(*kinds_.find(route.name), target, client);
  if (!request) return request.error();
  request->request_id = head.request_id;
  // A request that an agent has checked comes for the second time.
  if (unchecked == Unchecked::check) {
    if (auto refusal = client.take_request(Clock::now())) return std::move(*refusal);
  }
  auto ticket = take_job(client);
  if (!ticket) return ticket.error();
  if (auto step = judge_parameters(client, *request, unchecked)) return std::move(*step);
  // What its key stands for goes before that, which the journal knows.
  if (!head.idempotency_key) {
    if (auto step = judge_predecessor(client, request->after, unchecked)) return std::move(*step);
  }
  Upload upload(client, std::move(*request), std::move(*ticket), limits_.max_body,
                service_.disposal_for(client));
  if (service_.stores_uploads()) upload.note_stored();
  return announce(head, std::move(upload));
}

/// A place for one more job.
Result<Budget::Ticket> Api::take_job(const Client& client) const {
  if (service_.shutting_down()) return unavailable("shutting_down", "the server is shutting down");
  auto ticket = client.budget->take_job();
  if (ticket) return std::move(*ticket);
  return unavailable("queue_full", "this client has " + std::to_string(limits_.max_queued) +
                                       " unfinished jobs already");
}

/// What is known of an upload before it comes.
Result<Api::Step> Api::announce(const RequestHead& head, Upload upload) const {
  if (auto refusal = note_key(head, upload)) return std::move(*refusal);
  if (auto refusal = upload.reserve_wait()) return std::move(*refusal);
  if (!head.chunked) {
    if (auto refusal = upload.announce(head.content_length.value_or(0))) return std::move(*refusal);
  }
  return Step(std::move(upload));
}

/// Nothing when the request may go on.
std::optional<Result<Api::Step>> Api::judge_parameters(Client& client, const JobRequest& request,
                                                       Unchecked unchecked) {
  const auto about = checked_text(*request.kind, request.parameters);
  if (about.empty()) return std::nullopt;
  if (const auto* const verdict = client.verdicts.find(about)) {
    if (!verdict->refusal) return std::nullopt;
    return Result<Step>(*verdict->refusal);
  }
  if (unchecked == Unchecked::accept) return std::nullopt;
  auto check = service_.check_parameters(client, request);
  if (!check) return Result<Step>(check.error());
  return Result<Step>(Step(Checking{std::move(*check)}));
}

Api::Outcome Api::finish(Upload upload) {
  if (upload.request().kind == nullptr) return finish_bulk(std::move(upload));
  if (service_.keeper() != nullptr) {
    auto stored = store(std::move(upload));
    return stored ? std::move(*stored) : make_reply(stored.error());
  }
  Client& client = upload.client();
  const auto wait = upload.request().wait;
  auto job = upload.submit(service_);
  if (!job) return make_reply(job.error());
  return accepted(client, std::move(*job), wait, upload.take_wait());
}

Api::Outcome Api::accepted(Client& client, std::shared_ptr<Job> job, const Patience& wait,
                           Quota::Share share) {
  if (wait.any()) return Waiting{&client, std::move(job), std::move(share), wait};
  return with_location(job_reply(202, *job), job->id);
}

}  // namespace heistd
