#include "parker.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "timespec.hpp"

namespace HEIST_NAMESPACE::detail {

namespace {

int checked(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// Closes the descriptor that it holds, unless that was released.
class Descriptor {
 public:
  Descriptor(int fd, const char* what) : fd_(checked(fd, what)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

}  // namespace

void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // "yield" takes no time on processors with one thread for each core
#endif
}

Parker::~Parker() { close_descriptor(); }

void Parker::close_descriptor() noexcept {
  if (!has_descriptor()) return;
  close(std::exchange(poll_fd_, -1));
  close(std::exchange(timer_fd_, -1));
  if (wakers_.fetch_or(closing, sync::edge("park:close", sync::acq_rel)) == 0) close_event();
}

void Parker::close_event() noexcept {
  close(event_fd_.exchange(-1, sync::relaxed));  // relaxed: wakers_ orders it.
}

void Parker::prepare() noexcept {
  word_.store(asleep, sync::relaxed);  // relaxed: the inbox's mark publishes it.
}

void Parker::wait(std::optional<Clock::time_point> deadline) noexcept {
  while (word_.load(sync::edge("park:wait", sync::acquire)) == asleep) {
    if (has_descriptor()) {
      poll_descriptor(deadline);
    } else {
      wait_on_word(word_, asleep, deadline);
    }
    if (deadline && Clock::now() >= *deadline) return;
  }
}

void Parker::unpark() noexcept {
  const int event_fd = event_fd_.load(sync::edge("park:notify", sync::acquire));
  word_.store(awake, sync::edge("park:unpark", sync::release));
  if (event_fd < 0) return wake_word(word_);
  notify_descriptor();
}

void Parker::notify_descriptor() noexcept {
  std::uint32_t before = wakers_.load(sync::relaxed);  // relaxed: the CAS checks it again.
  do {
    if ((before & closing) != 0) return;
    // relaxed: only counts us in.
  } while (!wakers_.compare_exchange_weak(before, before + one_waker, sync::relaxed,
                                          sync::relaxed));  // relaxed: as above.
  const std::uint64_t one = 1;
  const int event_fd = event_fd_.load(sync::relaxed);  // relaxed: not closed while we are counted.
  // The write only fails when the counter is full, and then the descriptor is readable already.
  static_cast<void>(!write(event_fd, &one, sizeof one));
  before = wakers_.fetch_sub(one_waker, sync::edge("park:notified", sync::acq_rel));
  if (before == (one_waker | closing)) close_event();
}

int Parker::descriptor() {
  if (poll_fd_ >= 0) return poll_fd_;
  Descriptor timer(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC), "timerfd_create");
  Descriptor event(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
  Descriptor poll(epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  for (const int fd : {event.get(), timer.get()}) {
    epoll_event entry{.events = EPOLLIN, .data = {.fd = fd}};
    checked(epoll_ctl(poll.get(), EPOLL_CTL_ADD, fd, &entry), "epoll_ctl");
  }
  timer_fd_ = timer.release();
  poll_fd_ = poll.release();
  // This comes last, because wakers write to the descriptor from here on.
  event_fd_.store(event.release(), sync::edge("park:describe", sync::release));
  return poll_fd_;
}

void Parker::poll_descriptor(std::optional<Clock::time_point> deadline) noexcept {
  arm_descriptor(deadline);
  pollfd entry{.fd = poll_fd_, .events = POLLIN, .revents = 0};
  // An interruption is fine: the caller looks at the word again.
  static_cast<void>(poll(&entry, 1, -1));
  clear_descriptor();
}

void Parker::arm_descriptor(std::optional<Clock::time_point> deadline) noexcept {
  itimerspec timer{};
  if (deadline) timer.it_value = to_timespec(*deadline);
  timerfd_settime(timer_fd_, TFD_TIMER_ABSTIME, &timer, nullptr);
}

void Parker::clear_descriptor() noexcept {
  std::uint64_t count = 0;
  const int event_fd = event_fd_.load(sync::relaxed);  // relaxed: set by this thread.
  // It is no failure when there is nothing to read.
  static_cast<void>(!read(event_fd, &count, sizeof count));
  static_cast<void>(!read(timer_fd_, &count, sizeof count));
}

}  // namespace HEIST_NAMESPACE::detail
