#include <heistd/api_storing.hpp>
#include <heistd/job_request.hpp>
#include <heistd/job_text.hpp>
#include <heistd/json.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/page/page_files.hpp>
#include <heistd/stored_result.hpp>
#include <utility>

namespace heistd {
namespace {

/// Everybody may ask for it, and take long to read it, so it is not made of the reserve.
Reply page_reply(const PageFile& file) {
  const NetworkReserve::Withheld only_what_is_left;
  Reply reply;
  reply.content_type = file.content_type;
  reply.body = {std::string(file.text)};
  reply.headers.emplace_back("Content-Security-Policy", page_policy);
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  return reply;
}

/// Whoever watches over the server asks for these, without a token or a place; so does a browser
/// whose reader is yet to give the token.
bool is_for_all(Resource resource) noexcept {
  return resource == Resource::health || resource == Resource::ready || resource == Resource::page;
}

bool is_pause(Resource resource) noexcept {
  return resource == Resource::kind_pause || resource == Resource::kind_resume ||
         resource == Resource::signal_pause || resource == Resource::signal_resume;
}

/// For a GET only, as for all other methods ranges mean nothing.
RangeHeaders ranges_of(const RequestHead& head) {
  RangeHeaders headers;
  if (head.method == "GET") headers.range = head.range.value_or("");
  if (head.if_range) headers.if_range = std::string(*head.if_range);
  return headers;
}

/// Of many finished jobs.
bool is_sweep(const Route& route) noexcept {
  return route.resource == Resource::jobs_requeue ||
         (route.resource == Resource::jobs && route.method == Method::erase);
}

bool is_for_the_operator(Resource resource) noexcept {
  return resource == Resource::dump || resource == Resource::trace ||
         resource == Resource::metrics || resource == Resource::drain;
}

}  // namespace

Api::Routing Api::route(const RequestHead& head) const {
  auto found = find(head);
  if (!found) return make_reply(found.error());
  return std::move(*found);
}

Result<Api::Routing> Api::find(const RequestHead& head) const {
  auto target = parse_target(head.target);
  if (!target) return target.error();
  auto route = find_route(head.method, *target, kinds_);
  if (!route) return route.error();
  const bool is_bulk = route->resource == Resource::jobs && route->method == Method::post;
  if (route->resource != Resource::kind && !is_bulk && head.has_body()) {
    return Refusal{400, "unexpected_body", "a request like this has no body"};
  }
  if (!is_for_all(route->resource)) return Routing(Routed{std::move(*target), std::move(*route)});
  if (auto refusal = QueryReader(*target).finish()) return std::move(*refusal);
  auto reply = for_all(*route);
  if (!reply) return reply.error();
  return Routing(std::move(*reply));
}

Api::Step Api::begin(const RequestHead& head, const Routed& routed, Unchecked unchecked) {
  auto handled = handle(head, routed, unchecked);
  if (!handled) return make_reply(handled.error());
  return std::move(*handled);
}

Result<Api::Step> Api::handle(const RequestHead& head, const Routed& routed, Unchecked unchecked) {
  const auto& [target, route] = routed;
  const auto client = clients_.authenticate(head.authorization);
  if (!client) return client.error();
  if (head.place != nullptr && !head.place->begin(**client)) {
    return unavailable("too_many_connections", "too many requests are under way");
  }
  if (route.resource == Resource::kind) {
    return begin_upload(route, head, target, **client, unchecked);
  }
  if (is_for_the_operator(route.resource)) {
    return serve_operator(route, target, **client);
  }
  if (is_sweep(route)) return begin_sweep(route, target, **client);
  if (route.resource == Resource::jobs) {
    return route.method == Method::post ? begin_bulk(head, target, **client)
                                        : list(target, **client);
  }
  if (route.resource == Resource::events) return listen(head, target, **client);
  if (is_pause(route.resource)) return set_pause(route, target, **client);
  if (route.resource == Resource::job_requeue) return requeue(route, target, **client);
  if (route.resource == Resource::job && route.method == Method::put) {
    return put_job(route, target, **client);
  }
  if (service_.keeper() != nullptr && route.method != Method::get) {
    return store_change(route, target, **client);
  }
  if (route.method == Method::put) return as_step(put_signal(route, target, **client));
  if (route.resource == Resource::job && route.method == Method::get) {
    return show_job(route, target, **client);
  }
  if (auto refusal = QueryReader(target).finish()) return std::move(*refusal);
  if (route.resource == Resource::job_result) {
    return show_result(route, ranges_of(head), **client);
  }
  return as_step(handle_plain(route, **client));
}

/// A job of which the server has no Job waits for its turn; or only the journal has it, and it is
/// not waited for, as it has ended or will not be done here.
Result<Api::Step> Api::show_job(const Route& route, const Target& target, Client& client) {
  QueryReader query(target);
  const auto patience = query.patience("wait");
  if (auto refusal = query.finish()) return std::move(*refusal);
  auto job = service_.find(client, route.name);
  if (!job) {
    if (service_.keeper() == nullptr) return no_such_job();
    return Step(find_stored(route.name, client, [this, patience, &client](const StoredJob& stored) {
      return show_stored(stored, patience, client);
    }));
  }
  return std::visit([](auto outcome) { return Step(std::move(outcome)); },
                    show_job(std::move(job), patience, client));
}

Api::Outcome Api::show_job(std::shared_ptr<Job> job, const Patience& patience, Client& client) {
  if (job->finished() || !patience.any()) return job_reply(200, *job);
  auto share = client.take_wait();
  if (!share) return make_reply(share.error());
  return Waiting{&client, std::move(job), std::move(*share), patience, Waiting::For::description};
}

Api::Outcome Api::show_stored(const StoredJob& stored, const Patience& patience, Client& client) {
  const NetworkReserve::Withheld only_what_is_left;
  const bool has_value =
      stored.state == StoredState::done && !describes_bytes(stored.result_description);
  if (has_value && service_.keeper()->is_shared()) {
    return with_ended(stored, client, [](const std::shared_ptr<Job>& job) -> Outcome {
      return job_reply(200, *job);
    });
  }
  if (patience.any() && !is_end(stored.state)) {
    auto share = client.take_wait();
    if (!share) return make_reply(share.error());
    auto job = service_.bring(client, stored);
    if (job && job->finished()) return job_reply(200, *job);
    if (job) {
      return Waiting{&client, std::move(job), std::move(*share), patience,
                     Waiting::For::description};
    }
  }
  return summary_reply(200, summary_of(stored, client));
}

Storing Api::describe_stored(const JobId& id, Client& client) {
  return find_stored(id, client, [&client](const StoredJob& stored) -> Outcome {
    return summary_reply(200, summary_of(stored, client));
  });
}

Api::Handled Api::handle_plain(const Route& route, Client& client) {
  switch (route.resource) {
    case Resource::stats:
      return json_reply(200, stats_json(client));
    case Resource::kinds:
      return kinds_reply(client);
    case Resource::signals:
      return signals_reply(client);
    case Resource::job:
      return erase_job(route, client);
    default:
      return erase_signal(route, client);
  }
}

/// A server that drains is healthy, but takes no new jobs.
Api::Handled Api::for_all(const Route& route) const {
  if (route.resource == Resource::page) return page_reply(*find_page_file(route.name));
  if (!service_.shutting_down()) return json_reply(200, {{"status", "ok"}});
  if (route.resource == Resource::health) return json_reply(200, {{"status", "draining"}});
  return unavailable("shutting_down", "the server is shutting down");
}

Api::Handled Api::erase_job(const Route& route, Client& client) {
  const auto job = service_.find(client, route.name);
  if (!job) return no_such_job();
  if (!job->finished()) return abort_job(*job, client);
  forget(client, job->id);
  return job_reply(200, *job);
}

/// A job that has finished meanwhile stays.
Reply Api::abort_job(Job& job, Client& client) {
  service_.abort(client, job, job_deleted);
  return job_reply(200, job);
}

Api::Handled Api::put_signal(const Route& route, const Target& target, Client& client) {
  const auto priority = read_new_priority(target, client);
  if (!priority) return priority.error();
  const bool existed = client.signals.find(route.name) != nullptr;
  const auto group = put_group(client, route.name, *priority);
  if (!group) return group.error();
  return json_reply(existed ? 200 : 201, signal_json(route.name, **group));
}

/// A name that is put takes memory until it is deleted.
Result<std::shared_ptr<SignalGroup>> Api::put_group(Client& client, std::string_view name,
                                                    heist::TaskPriority priority) {
  const NetworkReserve::Withheld only_what_is_left;
  return service_.put_group(client, name, priority);
}

Api::Handled Api::erase_signal(const Route& route, Client& client) {
  const auto aborted = service_.abort_group(client, route.name);
  if (!aborted) return not_found("this client has no such signal");
  return json_reply(200, {{"signal", route.name}, {"aborted_jobs", *aborted}});
}

}  // namespace heistd
