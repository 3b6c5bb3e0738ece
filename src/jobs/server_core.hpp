// ServerCore: what stands behind a heist::jobs::Server.
#pragma once

#include <heist/detail/access.hpp>
#include <heist/jobs/server.hpp>
#include <heist/version.hpp>
#include <heistd/kind_table.hpp>

namespace HEIST_NAMESPACE::jobs::detail {

struct ServerCore {
  heistd::KindTable kinds;
};

}  // namespace HEIST_NAMESPACE::jobs::detail

namespace heistd {

/// Where the server's kinds stand, for kinds that have no handler.
[[nodiscard]] inline KindTable& kinds_of(const heist::jobs::Server& server) noexcept {
  return heist::detail::Access::core(server).kinds;
}

}  // namespace heistd
