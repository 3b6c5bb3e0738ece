// Functions that the linker puts between the library and what it calls (--wrap, see
// CMakeLists.txt): the system calls of src/heist/os, and where the library takes a node.
#include <poll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstddef>

#include "counts.hpp"

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names.
extern "C" {
long __real_syscall(long number, ...);
int __real_poll(pollfd* entries, nfds_t count, int timeout);
ssize_t __real_read(int fd, void* buffer, std::size_t bytes);
ssize_t __real_write(int fd, const void* buffer, std::size_t bytes);
int __real_timerfd_settime(int fd, int flags, const itimerspec* value, itimerspec* old);
void* __real__ZN5heist4v0_16detail23allocate_node_elsewhereEm(std::size_t bytes);

/// Six arguments, as the most that a system call has: more than were given do no harm.
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f) {
  bench::count(bench::counts.system_calls);
  return __real_syscall(number, a, b, c, d, e, f);
}

int __wrap_poll(pollfd* entries, nfds_t count, int timeout) {
  bench::count(bench::counts.system_calls);
  return __real_poll(entries, count, timeout);
}

ssize_t __wrap_read(int fd, void* buffer, std::size_t bytes) {
  bench::count(bench::counts.system_calls);
  return __real_read(fd, buffer, bytes);
}

ssize_t __wrap_write(int fd, const void* buffer, std::size_t bytes) {
  bench::count(bench::counts.system_calls);
  return __real_write(fd, buffer, bytes);
}

int __wrap_timerfd_settime(int fd, int flags, const itimerspec* value, itimerspec* old) {
  bench::count(bench::counts.system_calls);
  return __real_timerfd_settime(fd, flags, value, old);
}

/// heist::detail::allocate_node_elsewhere(std::size_t).
void* __wrap__ZN5heist4v0_16detail23allocate_node_elsewhereEm(std::size_t bytes) {
  bench::count(bench::counts.nodes);
  return __real__ZN5heist4v0_16detail23allocate_node_elsewhereEm(bytes);
}
}
// NOLINTEND(bugprone-reserved-identifier)
