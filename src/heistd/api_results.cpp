// What has become of a job: its result, and the reply to whoever waited for it.
#include <algorithm>
#include <heistd/api_storing.hpp>
#include <heistd/job_text.hpp>
#include <heistd/json.hpp>
#include <heistd/limits.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/stored_rest.hpp>
#include <heistd/stored_result.hpp>
#include <utility>

namespace heistd {
namespace {

Reply bytes_reply(const BytesResult& result) {
  Reply reply;
  reply.content_type = result.content_type;
  reply.body = {"", result.data};
  return reply;
}

Reply value_reply(const JsonResult& result) {
  Reply reply;
  reply.body = result.text;
  reply.body.after += '\n';
  return reply;
}

Reply result_reply(const JobResult& result) {
  if (const auto* const bytes = std::get_if<BytesResult>(&result)) return bytes_reply(*bytes);
  return value_reply(std::get<JsonResult>(result));
}

std::string microseconds(std::chrono::nanoseconds duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

/// The reply to whoever waited for a job that did not get done.
Reply undone_reply(const Job& job, unsigned status) {
  Refusal refusal{status, "aborted", std::string(job.end().abort_reason)};
  if (job.end().failure) {
    refusal.code = job.end().failure->code();
    refusal.message = job.end().failure->what();
  } else if (job.end().state == JobState::failed) {
    refusal = out_of_memory();
  }
  auto reply = make_reply(refusal);
  reply.body = {MemoryReserve::guard([&] { return undone_line(refusal, job); })};
  return reply;
}

}  // namespace

Reply Api::waited(const Job& job) const {
  const auto& end = job.end();
  if (end.state == JobState::failed || end.state == JobState::dead) {
    return with_location(undone_reply(job, end.failure ? 422 : 503), job.id);
  }
  if (end.state == JobState::aborted) {
    // With a journal the next server goes on with jobs, so that somebody has asked for the abort.
    const bool by_end = service_.shutting_down() && service_.keeper() == nullptr;
    return with_location(undone_reply(job, by_end ? 503 : 409), job.id);
  }
  const auto* const bytes = std::get_if<BytesResult>(end.result.get());
  if (bytes == nullptr) return with_location(job_reply(200, job), job.id);
  auto reply = with_location(bytes_reply(*bytes), job.id);
  reply.headers.emplace_back("Heistd-Queue-Delay-Us", microseconds(end.times.queue_delay));
  reply.headers.emplace_back("Heistd-Run-Time-Us", microseconds(end.times.run));
  return reply;
}

Reply Api::waited(const Waiting& waiting) const {
  const auto& job = *waiting.job;
  if (waiting.reply == Waiting::For::description) return job_reply(200, job);
  return is_end(job.state()) && job.finished() ? waited(job)
                                               : with_location(job_reply(202, job), job.id);
}

/// Whoever waits for a while only has the job go on without it.
void Api::drop(const Waiting& waiting) {
  if (waiting.patience.most || waiting.reply == Waiting::For::description) return;
  service_.give_up(*waiting.client, *waiting.job, "the client that waited disconnected");
}

/// The journal is asked about a job that waits, and for a result that memory does not have.
Result<Api::Step> Api::show_result(const Route& route, const RangeHeaders& wanted, Client& client) {
  if (service_.keeper() == nullptr || service_.find(client, route.name)) {
    return as_step(job_result(route, wanted, client));
  }
  return Step(find_stored(route.name, client, [this, wanted](const StoredJob& stored) {
    return stored_result(stored, wanted);
  }));
}

Api::Handled Api::job_result(const Route& route, const RangeHeaders& wanted, Client& client) {
  const auto job = service_.find(client, route.name);
  if (!job) return no_such_job();
  if (!job->finished()) return Refusal{409, "not_finished", "the job has not finished yet"};
  if (!job->end().result) {
    return Refusal{409, "no_result", "the job is " + std::string(to_string(job->state()))};
  }
  return cut_to_part(result_reply(*job->end().result), wanted, job->id);
}

/// Of a result that is bytes, only the part that is wanted is read, and no more than a block of it
/// at a time. A JSON value is small, and its reply has more.
Api::Outcome Api::stored_result(const StoredJob& stored, const RangeHeaders& wanted) {
  if (!is_end(stored.state)) {
    return make_reply({409, "not_finished", "the job has not finished yet"});
  }
  if (stored.state != StoredState::done) {
    return make_reply({409, "no_result", "the job is " + std::string(to_string(state_of(stored)))});
  }
  const auto total = stored.result_bytes;
  auto part = find_part(wanted, stored.id, total);
  const bool is_of_bytes = describes_bytes(stored.result_description);
  if (!is_of_bytes) part = {200, {0, total}};
  if (part.status == 416) return with_part({}, part, stored.id, total);
  auto first = part.bytes;
  if (is_of_bytes) first.size = std::min<std::uint64_t>(first.size, block_bytes);
  auto answer = service_.keeper()->journal().read_result(stored.id, first);
  return storing(answer, [=, this](const std::string& bytes) -> Outcome {
    const NetworkReserve::Withheld only_what_is_left;
    if (bytes.size() != first.size) return make_reply(no_such_job());  // it was deleted
    auto reply = result_reply(from_stored(stored.result_description, bytes));
    if (!is_of_bytes) return cut_to_part(std::move(reply), wanted, stored.id);
    const ByteRange rest{first.offset + first.size, part.bytes.size - first.size};
    if (rest.size > 0) {
      reply.rest = std::make_shared<StoredRest>(*service_.keeper(), stored.id, rest);
    }
    return with_part(std::move(reply), part, stored.id, total);
  });
}

}  // namespace heistd
