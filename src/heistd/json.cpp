#include <array>
#include <cmath>
#include <heistd/json.hpp>
#include <heistd/json_text.hpp>

namespace heistd {
namespace {

constexpr std::array all_priorities = {heist::TaskPriority::user_blocking,
                                       heist::TaskPriority::user_visible,
                                       heist::TaskPriority::background};

Json histogram_json(const DurationHistogram& histogram) {
  return {{"count", histogram.count()},
          {"p50", in_microseconds(histogram.quantile(0.5))},
          {"p90", in_microseconds(histogram.quantile(0.9))},
          {"p99", in_microseconds(histogram.quantile(0.99))},
          {"p999", in_microseconds(histogram.quantile(0.999))},
          {"max", in_microseconds(histogram.max())}};
}

Json counts_json(heist::TaskPriority priority, const LevelStats& level, const Depth& depth) {
  return {{"priority", heist::to_string(priority)},
          {"depth", depth.queued + depth.running},
          {"queued", depth.queued},
          {"running", depth.running},
          {"delayed", depth.delayed},
          {"done", level.done},
          {"failed", level.failed},
          {"dead", level.dead},
          {"retried", level.retried},
          {"aborted", level.aborted}};
}

Json level_json(heist::TaskPriority priority, const LevelStats& level, const Depth& depth) {
  auto json = counts_json(priority, level, depth);
  json["queue_delay_us"] = histogram_json(level.queue_delay);
  json["run_time_us"] = histogram_json(level.run_time);
  json["chunks"] = level.chunks;
  json["longest_chunk_us"] = in_microseconds(level.longest_chunk);
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

Json error_json(const Refusal& refusal) {
  Json error = {{"code", refusal.code}, {"message", refusal.message}};
  if (!refusal.field.empty()) error["field"] = refusal.field;
  return {{"error", std::move(error)}};
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
