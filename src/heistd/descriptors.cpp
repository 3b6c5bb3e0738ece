#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <heistd/descriptors.hpp>
#include <iterator>
#include <system_error>

namespace heistd {
namespace {

/// Of the listening socket, the event loop, the agents, and one that was accepted while another one
/// is closed.
constexpr std::size_t for_the_server = 16;

std::size_t open_now() {
  std::error_code none;  // without /proc there are the three that every process has, at least
  const std::filesystem::directory_iterator entries("/proc/self/fd", none);
  if (none) return 3;
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

}  // namespace

std::size_t make_room_for_connections(std::size_t wanted, std::size_t others) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
    throw std::system_error(errno, std::generic_category());
  others += open_now() + for_the_server;
  if (limit.rlim_cur < wanted + others && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = std::min<rlim_t>(wanted + others, limit.rlim_max);
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) getrlimit(RLIMIT_NOFILE, &limit);
  }
  return std::min(wanted, limit.rlim_cur - std::min<rlim_t>(limit.rlim_cur, others));
}

}  // namespace heistd
