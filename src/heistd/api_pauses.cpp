// Pauses of kinds and signals.
#include <heistd/api_storing.hpp>
#include <heistd/json.hpp>
#include <heistd/network_reserve.hpp>
#include <utility>

namespace heistd {
namespace {

bool is_on(const Route& route) noexcept {
  return route.resource == Resource::kind_pause || route.resource == Resource::signal_pause;
}

bool is_of_kind(const Route& route) noexcept {
  return route.resource == Resource::kind_pause || route.resource == Resource::kind_resume;
}

}  // namespace

Result<Api::Step> Api::set_pause(const Route& route, const Target& target, Client& client) {
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  if (!is_of_kind(route)) {
    if (!is_on(route) && !client.signals.find(route.name)) {
      return not_found("this client has no such signal");
    }
    if (auto refusal = JobService::refuse_signal(client, route.name)) return std::move(*refusal);
  }
  if (service_.keeper() == nullptr) return as_step(set_pause(route, client));
  const auto of = is_of_kind(route) ? StoredPause::Of::kind : StoredPause::Of::signal;
  auto& journal = service_.keeper()->journal();
  auto answer =
      journal.set_pause({client.name, of, route.name}, is_on(route), client.default_priority());
  return Step(storing(answer, [this, &journal, route, &client](auto) -> Outcome {
    auto set = set_pause(route, client);
    if (set) return std::move(*set);
    // Others have taken the last names while the journal was asked.
    service_.keeper()->watch(journal.drop_signal(client.name, route.name));
    return make_reply(set.error());
  }));
}

/// The answer is what is paused or resumed, as a list of such things has it.
Api::Handled Api::set_pause(const Route& route, Client& client) {
  const NetworkReserve::Withheld only_what_is_left;
  if (is_of_kind(route)) {
    const auto& kind = *kinds_.find(route.name);
    service_.set_pause(client, kind, is_on(route));
    return json_reply(200, kind_json(kind, client));
  }
  const auto group = service_.set_pause(client, route.name, is_on(route));
  if (!group) return group.error();
  return json_reply(200, signal_json(route.name, **group));
}

}  // namespace heistd
