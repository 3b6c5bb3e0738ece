#include <array>
#include <cmath>
#include <heistd/json.hpp>
#include <ratio>

namespace heistd {
namespace {

constexpr std::array all_priorities = {heist::TaskPriority::user_blocking,
                                       heist::TaskPriority::user_visible,
                                       heist::TaskPriority::background};

double microseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

Json histogram_json(const DurationHistogram& histogram) {
  return {{"count", histogram.count()},
          {"p50", microseconds(histogram.quantile(0.5))},
          {"p90", microseconds(histogram.quantile(0.9))},
          {"p99", microseconds(histogram.quantile(0.99))},
          {"p999", microseconds(histogram.quantile(0.999))},
          {"max", microseconds(histogram.max())}};
}

Json counts_json(heist::TaskPriority priority, const LevelStats& level, const Depth& depth) {
  return {{"priority", heist::to_string(priority)},
          {"depth", depth.queued + depth.running},
          {"queued", depth.queued},
          {"running", depth.running},
          {"delayed", depth.delayed},
          {"done", level.done},
          {"failed", level.failed},
          {"retried", level.retried},
          {"aborted", level.aborted}};
}

Json level_json(heist::TaskPriority priority, const LevelStats& level, const Depth& depth) {
  auto json = counts_json(priority, level, depth);
  json["queue_delay_us"] = histogram_json(level.queue_delay);
  json["run_time_us"] = histogram_json(level.run_time);
  json["chunks"] = level.chunks;
  json["longest_chunk_us"] = microseconds(level.longest_chunk);
  return json;
}

/// Of each priority, the highest first: `make(priority, index, depth)`.
template <class Make>
Json of_levels(const Client& client, Make make) {
  const auto depths = client.depths();
  Json levels = Json::array();
  for (const auto priority : all_priorities) {
    const auto index = static_cast<std::size_t>(priority);
    levels.push_back(make(priority, index, depths.at(index)));
  }
  return levels;
}

std::string_view to_string(ParameterType type) noexcept {
  switch (type) {
    case ParameterType::text:
      return "text";
    case ParameterType::integer:
      return "integer";
    case ParameterType::number:
      return "number";
    case ParameterType::flag:
      return "flag";
  }
  return "invalid";
}

Json parameter_json(const Parameter& parameter) {
  Json json = {{"name", parameter.name},
               {"type", to_string(parameter.type)},
               {"required", parameter.required}};
  if (std::isfinite(parameter.least)) json["least"] = parameter.least;
  if (std::isfinite(parameter.most)) json["most"] = parameter.most;
  return json;
}

void add_progress(Json& json, const Job& job) {
  if (const auto part = job.progress->part_done()) json["progress"] = *part;
}

void add_times(Json& json, const Job& job) {
  const auto delay = job.progress->queue_delay();
  json["queue_delay_us"] = delay ? Json(microseconds(*delay)) : Json();
  add_progress(json, job);
  const bool known = job.finished() && job.end().times.chunks > 0;
  json["run_time_us"] = known ? Json(microseconds(job.end().times.run)) : Json();
  if (!known || !job.end().times.chunked) return;
  json["chunks"] = job.end().times.chunks;
  json["longest_chunk_us"] = microseconds(job.end().times.longest);
}

void add_outcome(Json& json, const Job& job) {
  const auto& end = job.end();
  if (!end.result) return;
  const auto* const bytes = std::get_if<BytesResult>(end.result.get());
  json["result"] =
      bytes != nullptr
          ? Json({{"bytes", byte_count(*bytes->data)}, {"content_type", bytes->content_type}})
          : Json();
  json["links"]["result"] = "/jobs/" + job.id + "/result";
}

/// A limit that there is not is null.
Json limits_json(const ClientLimits& limits) {
  Json json = {{"rate", Json()}, {"burst", Json()}, {"running", Json()}, {"weight", limits.weight}};
  if (limits.rate > 0) {
    json["rate"] = static_cast<double>(limits.rate) / static_cast<double>(limits.per.count());
    json["burst"] = limits.most_at_once();
  }
  if (limits.running > 0) json["running"] = limits.running;
  return json;
}

}  // namespace

std::string dump(const Json& json) { return line(json) + "\n"; }

std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Body render(const Job& job) {
  auto text = dump(job_json(job));
  const auto* const result = job.finished() ? job.end().result.get() : nullptr;
  const auto* const json = result == nullptr ? nullptr : std::get_if<JsonResult>(result);
  if (json == nullptr) return {std::move(text)};
  // Within strings the quotes would be escaped: there is one such place.
  static constexpr std::string_view place = "\"result\":null";
  const auto end = text.find(place) + place.size();
  auto before = text.substr(0, end - std::string_view("null").size());
  return {before + json->text.before, json->text.shared, json->text.after + text.substr(end)};
}

Json error_json(const Refusal& refusal) {
  Json error = {{"code", refusal.code}, {"message", refusal.message}};
  if (!refusal.field.empty()) error["field"] = refusal.field;
  return {{"error", std::move(error)}};
}

Json summary_json(const JobSummary& job) {
  Json json = {{"id", job.id},
               {"kind", job.kind},
               {"state", to_string(job.state)},
               {"priority", heist::to_string(job.priority)},
               {"bytes", job.bytes}};
  if (!job.signal_name.empty()) json["signal"] = job.signal_name;
  if (!job.after.empty()) json["after"] = job.after;
  if (!job.request_id.empty()) json["request_id"] = job.request_id;
  if (job.expires_in) json["expires_in_ms"] = job.expires_in->count();
  if (job.timeout) json["timeout_ms"] = job.timeout->count();
  if (job.attempts.latest > 0) {  // which only a journal knows
    json["attempts"] = job.attempts.counted();
    json["max_attempts"] = job.attempts.most;
  }
  if (job.error) {
    json[is_end(job.state) ? "error" : "last_error"] = {{"code", job.error->code},
                                                        {"message", job.error->message}};
  }
  json["links"] = {{"self", "/jobs/" + std::string(job.id)}};
  return json;
}

Json job_json(const Job& job) {
  auto json = summary_json(summary_of(job));
  add_times(json, job);
  if (job.finished()) add_outcome(json, job);
  return json;
}

Json stats_json(const Client& client) {
  auto levels = of_levels(client, [&](auto priority, std::size_t index, const Depth& depth) {
    return level_json(priority, client.stats.at(index), depth);
  });
  return {{"client", client.name},
          {"ceiling", heist::to_string(client.ceiling)},
          {"limits", limits_json(client.limits())},
          {"rate_limited", client.rate_limited},
          {"jobs_held", client.budget->jobs()},
          {"bytes_held", client.budget->bytes()},
          {"levels", std::move(levels)}};
}

Json levels_json(const Client& client, std::span<const DurationHistogram, 3> delays) {
  auto levels = of_levels(client, [&](auto priority, std::size_t index, const Depth& depth) {
    auto json = counts_json(priority, client.stats.at(index), depth);
    json["queue_delay_us"] = histogram_json(delays[index]);
    return json;
  });
  return {{"levels", std::move(levels)}};
}

Json event_json(const Job& job) {
  auto json = summary_json(summary_of(job));
  add_progress(json, job);
  return json;
}

Json signal_json(std::string_view name, const SignalGroup& group) {
  return {{"signal", name},
          {"priority", heist::to_string(group.priority())},
          {"unfinished_jobs", group.unfinished()},
          {"paused", group.pause.is_on()}};
}

Json kind_json(const Kind& kind, const Client& client) {
  Json parameters = Json::array();
  for (const auto& parameter : kind.parameters) parameters.push_back(parameter_json(parameter));
  return {{"kind", kind.name},
          {"parameters", std::move(parameters)},
          {"takes_any_parameter", kind.takes_any_parameter},
          {"paused", client.kind_pauses.is_on(kind)}};
}

}  // namespace heistd
