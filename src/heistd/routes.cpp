#include <algorithm>
#include <array>
#include <heistd/job_id.hpp>
#include <heistd/page/page_files.hpp>
#include <heistd/query.hpp>
#include <heistd/routes.hpp>
#include <initializer_list>

namespace heistd {
namespace {

using Path = std::vector<std::string>;

bool is(const Path& path, std::initializer_list<std::string_view> names) noexcept {
  return std::ranges::equal(path, names);
}

bool is_of_page(const Path& path) {
  return path.size() < 2 && find_page_file(path.empty() ? "" : path[0]) != nullptr;
}

std::optional<Resource> resource_of_pause(const Path& path, const KindTable& kinds) {
  if (path.size() != 3 || (path[2] != "pause" && path[2] != "resume")) return std::nullopt;
  const bool is_pause = path[2] == "pause";
  if (path[0] == "signals") return is_pause ? Resource::signal_pause : Resource::signal_resume;
  if (path[0] != "kinds" || kinds.find(path[1]) == nullptr) return std::nullopt;
  return is_pause ? Resource::kind_pause : Resource::kind_resume;
}

bool is_of_signal(Resource resource) noexcept {
  return resource == Resource::signal || resource == Resource::signal_pause ||
         resource == Resource::signal_resume;
}

std::optional<Resource> resource_of(const Path& path, const KindTable& kinds) {
  if (is_of_page(path)) return Resource::page;
  if (is(path, {"healthz"})) return Resource::health;
  if (is(path, {"readyz"})) return Resource::ready;
  if (is(path, {"stats"})) return Resource::stats;
  if (is(path, {"events"})) return Resource::events;
  if (is(path, {"kinds"})) return Resource::kinds;
  if (is(path, {"signals"})) return Resource::signals;
  if (is(path, {"metrics"})) return Resource::metrics;
  if (is(path, {"drain"})) return Resource::drain;
  if (is(path, {"debug", "dump"})) return Resource::dump;
  if (is(path, {"debug", "trace"})) return Resource::trace;
  if (path.size() == 2 && path[0] == "signals") return Resource::signal;
  if (const auto pause = resource_of_pause(path, kinds)) return pause;
  if (is(path, {"jobs"})) return Resource::jobs;
  if (is(path, {"jobs", "requeue"})) return Resource::jobs_requeue;
  if (path.size() < 2 || path[0] != "jobs") return std::nullopt;
  if (path.size() == 2 && kinds.find(path[1]) != nullptr) return Resource::kind;
  if (!is_job_id(path[1])) return std::nullopt;
  if (path.size() == 2) return Resource::job;
  if (path.size() == 3 && path[2] == "result") return Resource::job_result;
  if (path.size() == 3 && path[2] == "requeue") return Resource::job_requeue;
  return std::nullopt;
}

struct Allowed {
  std::string_view text;
  Method method;
};

std::vector<Allowed> allowed_methods(Resource resource) {
  static constexpr Allowed get{"GET", Method::get};
  static constexpr Allowed head{"HEAD", Method::get};
  static constexpr Allowed post{"POST", Method::post};
  static constexpr Allowed put{"PUT", Method::put};
  static constexpr Allowed erase{"DELETE", Method::erase};
  switch (resource) {
    case Resource::kind:
    case Resource::kind_pause:
    case Resource::kind_resume:
    case Resource::signal_pause:
    case Resource::signal_resume:
    case Resource::job_requeue:
    case Resource::jobs_requeue:
      return {post};
    case Resource::drain:
      return {get, head, post};
    case Resource::job:
      return {get, head, put, erase};
    case Resource::jobs:
      return {get, head, post, erase};
    case Resource::signal:
      return {put, erase};
    default:
      return {get, head};
  }
}

Refusal wrong_method(const std::vector<Allowed>& allowed) {
  Refusal refusal{405, "method_not_allowed", "this method cannot be used here"};
  for (const auto& [text, method] : allowed) {
    refusal.allow += refusal.allow.empty() ? "" : ", ";
    refusal.allow += text;
  }
  return refusal;
}

}  // namespace

Result<Route> find_route(std::string_view method, const Target& target, const KindTable& kinds) {
  const auto resource = resource_of(target.path, kinds);
  if (!resource) return not_found("there is nothing at this path");
  const auto allowed = allowed_methods(*resource);
  const auto found = std::ranges::find(allowed, method, &Allowed::text);
  if (found == allowed.end()) return wrong_method(allowed);
  Route route{*resource, found->method, target.path.size() > 1 ? target.path[1] : ""};
  if (*resource == Resource::page && !target.path.empty()) route.name = target.path[0];
  if (is_of_signal(*resource) && !is_name(route.name)) {
    return Refusal{400, "bad_name", "a signal name is 1 to 64 letters, digits, '.', '_' or '-'",
                   "name"};
  }
  return route;
}

}  // namespace heistd
