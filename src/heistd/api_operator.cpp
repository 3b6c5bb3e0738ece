// What only the operator may ask for.
#include <heistd/api.hpp>
#include <heistd/json.hpp>
#include <heistd/query.hpp>
#include <heistd/replies.hpp>
#include <utility>

namespace heistd {

/// What agents do concerns all clients (SEC-1).
Result<Api::Step> Api::serve_operator(const Route& route, const Target& target,
                                      const Client& client) {
  if (!client.is_operator) {
    return Refusal{403, "not_operator", "only the client that --operator names may do this"};
  }
  return route.resource == Resource::drain ? drain(route, target) : observe(route, target);
}

Result<Api::Step> Api::observe(const Route& route, const Target& target) {
  const auto as_observing = [](Result<std::shared_ptr<Observation>> started) -> Result<Step> {
    if (!started) return started.error();
    return Step(Observing{std::move(*started)});
  };
  if (route.resource == Resource::trace) {
    const auto request = read_trace_request(target);
    if (!request) return request.error();
    return as_observing(observer_.trace(*request));
  }
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  if (route.resource == Resource::dump) return as_observing(observer_.dump());
  return as_observing(observer_.metrics(figures_of(clients_, kinds_, service_.keeper())));
}

/// Whoever asks once more only hears how far it is.
Result<Api::Step> Api::drain(const Route& route, const Target& target) {
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  if (route.method == Method::post && !service_.shutting_down()) end_.begin();
  Json json = {{"status", "serving"}, {"unfinished_jobs", clients_.unfinished_jobs()}};
  if (service_.shutting_down()) {
    json["status"] = "draining";
    json["left_ms"] = end_.left().count();
  }
  return Step(json_reply(route.method == Method::post ? 202 : 200, json));
}

}  // namespace heistd
