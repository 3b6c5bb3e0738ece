#include <heistd/job_text.hpp>
#include <heistd/refusal.hpp>

namespace heistd {
namespace {

void add_error(JsonText& text, std::string_view key, const StoredError& error) {
  text.key(key);
  text.begin_object();
  text.member("code", error.code);
  text.member("message", error.message);
  text.end_object();
}

/// The limits of a job, and how often it was tried.
void add_terms(JsonText& text, const JobSummary& job) {
  if (job.expires_in) text.member("expires_in_ms", job.expires_in->count());
  if (job.timeout) text.member("timeout_ms", job.timeout->count());
  if (job.attempts.latest == 0) return;  // which only a journal knows
  text.member("attempts", job.attempts.counted());
  text.member("max_attempts", job.attempts.most);
}

void add_links(JsonText& text, std::string_view id, bool has_result) {
  const std::string self = "/jobs/" + std::string(id);
  text.key("links");
  text.begin_object();
  text.member("self", self);
  if (has_result) text.member("result", self + "/result");
  text.end_object();
}

void add_progress(JsonText& text, const Job& job) {
  if (const auto part = job.progress->part_done()) text.member("progress", *part);
}

void add_times(JsonText& text, const Job& job) {
  const auto delay = job.progress->queue_delay();
  if (delay) {
    text.member("queue_delay_us", in_microseconds(*delay));
  } else {
    text.null_member("queue_delay_us");
  }
  add_progress(text, job);
  if (!job.finished() || job.end().times.chunks == 0) return text.null_member("run_time_us");
  const JobTimes& times = job.end().times;
  text.member("run_time_us", in_microseconds(times.run));
  if (!times.chunked) return;
  text.member("chunks", times.chunks);
  text.member("longest_chunk_us", in_microseconds(times.longest));
}

const JobResult* result_of(const Job& job) noexcept {
  return job.finished() ? job.end().result.get() : nullptr;
}

void add_bytes_result(JsonText& text, const BytesResult& result) {
  text.key("result");
  text.begin_object();
  text.member("bytes", byte_count(*result.data));
  text.member("content_type", result.content_type);
  text.end_object();
}

/// With links.
void add_whole(JsonText& text, const Job& job) {
  add_links(text, job.id, result_of(job) != nullptr);
  add_job(text, job);
}

std::string ended(JsonText& text) {
  text.end_object();
  return text.text();
}

}  // namespace

void add_summary(JsonText& text, const JobSummary& job) {
  text.member("id", job.id);
  text.member("kind", job.kind);
  text.member("state", to_string(job.state));
  text.member("priority", heist::to_string(job.priority));
  if (job.bytes) text.member("bytes", *job.bytes);
  if (!job.signal_name.empty()) text.member("signal", job.signal_name);
  if (!job.after.empty()) text.member("after", job.after);
  if (!job.request_id.empty()) text.member("request_id", job.request_id);
  add_terms(text, job);
  if (job.error) add_error(text, is_end(job.state) ? "error" : "last_error", *job.error);
}

void add_job(JsonText& text, const Job& job) {
  add_summary(text, summary_of(job));
  add_times(text, job);
  const JobResult* const result = result_of(job);
  const auto* const bytes = result == nullptr ? nullptr : std::get_if<BytesResult>(result);
  if (bytes != nullptr) add_bytes_result(text, *bytes);
}

std::string summary_text(const JobSummary& job) {
  JsonText text;
  text.begin_object();
  add_summary(text, job);
  add_links(text, job.id, false);
  return ended(text);
}

std::string event_text(const Job& job) {
  JsonText text;
  text.begin_object();
  const JobSummary summary = summary_of(job);
  add_summary(text, summary);
  add_links(text, summary.id, false);
  add_progress(text, job);
  return ended(text);
}

std::string waiting_line(const JobSummary& job) {
  JsonText text;
  text.begin_object();
  add_summary(text, job);
  add_links(text, job.id, false);
  text.null_member("queue_delay_us");
  text.null_member("run_time_us");
  return ended(text) + "\n";
}

/// The result may be large, so the description goes around it.
Body job_line(const Job& job) {
  JsonText text;
  text.begin_object();
  add_whole(text, job);
  const JobResult* const result = result_of(job);
  const auto* const json = result == nullptr ? nullptr : std::get_if<JsonResult>(result);
  if (json == nullptr) return {ended(text) + "\n"};
  text.raw_member("result", json->text.before);
  return {text.text(), json->text.shared, json->text.after + "}\n"};
}

std::string undone_line(const Refusal& refusal, const Job& job) {
  JsonText text;
  text.begin_object();
  add_error(text, "error", {refusal.code, refusal.message});
  text.key("job");
  text.begin_object();
  add_whole(text, job);
  text.end_object();
  return ended(text) + "\n";
}

}  // namespace heistd
