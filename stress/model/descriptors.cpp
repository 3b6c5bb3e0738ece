#include "descriptors.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/types.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <heist/detail/sync.hpp>

#include "engine/model.hpp"

namespace heist::model {

using namespace detail;

/// What a descriptor stands for.
struct Descriptors::File {
  enum class Kind : std::uint8_t { event, timer, set };

  Kind kind;
  sync::atomic<std::uint32_t> count{0};  ///< of an event: readable if not zero
  bool armed = false;                    ///< of a timer: it expires when the search wants it to
  int event = -1;                        ///< of a set
  int timer = -1;                        ///< of a set
};

namespace {

int open_file(Descriptors::File::Kind kind) {
  return Descriptors::current().add(*new Descriptors::File{.kind = kind});
}

Descriptors::File& file(int descriptor) { return Descriptors::current().at(descriptor); }

}  // namespace

Descriptors::Descriptors() noexcept {
  const Unwatched unwatched;
  current_ = this;
}

Descriptors::~Descriptors() {
  const Unwatched unwatched;
  current_ = nullptr;
}

Descriptors& Descriptors::current() noexcept {
  const Unwatched unwatched;
  return *current_;
}

int Descriptors::add(File& file) {
  const Unwatched unwatched;
  check(count_ < most, "the table of descriptors is large enough");
  files_[count_] = &file;
  return static_cast<int>(count_++);
}

Descriptors::File& Descriptors::at(int descriptor) const {
  const Unwatched unwatched;
  const auto index = static_cast<std::size_t>(descriptor);
  check(index < count_, "a system call names a descriptor");
  return *files_[index];
}

}  // namespace heist::model

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names.
extern "C" {

using heist::model::Descriptors;
using heist::model::Where;

int __wrap_eventfd(unsigned /*count*/, int /*flags*/) {
  return heist::model::open_file(Descriptors::File::Kind::event);
}
int __wrap_timerfd_create(int /*clock*/, int /*flags*/) {
  return heist::model::open_file(Descriptors::File::Kind::timer);
}
int __wrap_epoll_create1(int /*flags*/) {
  return heist::model::open_file(Descriptors::File::Kind::set);
}

int __wrap_epoll_ctl(int set, int /*operation*/, int member, epoll_event* /*event*/) {
  const bool is_event = heist::model::file(member).kind == Descriptors::File::Kind::event;
  auto& to = heist::model::file(set);
  (is_event ? to.event : to.timer) = member;
  return 0;
}

int __wrap_timerfd_settime(int timer, int /*flags*/, const itimerspec* value, itimerspec* /*old*/) {
  heist::model::file(timer).armed = value->it_value.tv_sec != 0 || value->it_value.tv_nsec != 0;
  return 0;
}

/// Sleeps until the set's event is readable, or its timer has expired. Of one set, without a limit.
int __wrap_poll(pollfd* entries, nfds_t /*count*/, int /*timeout*/) {
  const auto& set = heist::model::file(entries->fd);
  const bool timed = heist::model::file(set.timer).armed;
  auto& count = heist::model::file(set.event).count;
  heist::model::sleep_on(count.cell(), 0, timed, Where::current());
  count.fetch_add(0, heist::detail::sync::acq_rel);
  entries->revents = POLLIN;
  return 1;
}

ssize_t __wrap_read(int descriptor, void* buffer, std::size_t bytes) {
  const std::uint64_t count =
      heist::model::file(descriptor).count.exchange(0, heist::detail::sync::acq_rel);
  if (count == 0) {
    errno = EAGAIN;
    return -1;
  }
  std::memcpy(buffer, &count, bytes);
  return static_cast<ssize_t>(bytes);
}

ssize_t __wrap_write(int descriptor, const void* /*buffer*/, std::size_t bytes) {
  auto& count = heist::model::file(descriptor).count;
  const auto cell = count.cell();
  count.fetch_add(1, heist::detail::sync::acq_rel);
  heist::model::wake(cell, heist::model::everybody, Where::current());
  return static_cast<ssize_t>(bytes);
}

int __wrap_close(int descriptor) {
  auto& closed = heist::model::file(descriptor);
  closed.count.fetch_add(
      0, heist::detail::sync::relaxed);  // a step: the order of uses and the close is explored
  delete &closed;
  return 0;
}
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
