// Routes: which resource a path names, and what may be done with it.
#pragma once

#include <cstdint>
#include <heistd/kind_table.hpp>
#include <heistd/refusal.hpp>
#include <heistd/target.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

enum class Resource : std::uint8_t {
  health,
  ready,
  page,
  stats,
  events,
  kinds,
  signals,
  kind,
  kind_pause,
  kind_resume,
  jobs,
  jobs_requeue,
  job,
  job_result,
  job_requeue,
  signal,
  signal_pause,
  signal_resume,
  dump,
  trace,
  metrics,
  drain
};

enum class Method : std::uint8_t { get, post, put, erase };

/// What a request is about.
struct Route {
  Resource resource;
  Method method;
  std::string name;  ///< the job's id or kind, the signal's name, or that of the page's file
};

/// Errors: 404 "not_found", 405 "method_not_allowed", 400 "bad_name" for a signal.
[[nodiscard]] Result<Route> find_route(std::string_view method, const Target& target,
                                       const KindTable& kinds);

}  // namespace heistd
