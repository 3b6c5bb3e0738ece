#include <cstdio>
#include <heist/detail/misuse.hpp>
#include <heist/detail/report_error.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>
#include <stdexcept>
#include <string>

namespace HEIST_NAMESPACE::detail {

namespace {

const char* to_text(ErrorOrigin origin) noexcept {
  switch (origin) {
    case ErrorOrigin::task:
      return "a task";
    case ErrorOrigin::listener:
      return "a signal listener";
    case ErrorOrigin::microtask:
      return "a microtask";
    case ErrorOrigin::unobserved_rejection:
      return "a rejected promise nobody observed";
    case ErrorOrigin::close:
      return "a close";
    case ErrorOrigin::wait:
      return "agents that wait";
  }
  return "somewhere";
}

void print_error(ErrorOrigin origin, const Reason& reason) noexcept {
  try {
    std::fprintf(stderr, "heist: error from %s: %s\n", to_text(origin), reason.what().c_str());
  } catch (...) {
    std::fputs("heist: error, and no memory to describe it\n", stderr);
  }
}

// Edge error_hook: set -> call. Carries what the setter prepared for its hook.
sync::atomic<ErrorHook> error_hook{&print_error};
sync::atomic<std::uint64_t> error_count{0};

}  // namespace

void refuse_moved_from(const char* call) {
  throw std::invalid_argument(std::string(call) + ": the handle was moved from");
}

void refuse_no_result(const char* call) {
  throw std::invalid_argument(std::string(call) +
                              ": no call was forked into it, or it was moved from");
}

void refuse_nothing(const char* call) {
  throw std::invalid_argument(std::string(call) + ": there is nothing to call");
}

}  // namespace HEIST_NAMESPACE::detail

namespace HEIST_NAMESPACE {

using namespace detail;

ErrorHook set_error_hook(ErrorHook hook) noexcept {
  return error_hook.exchange(hook != nullptr ? hook : &print_error,
                             sync::edge("error_hook:set", sync::acq_rel));
}

std::uint64_t reported_error_count() noexcept {
  return error_count.load(sync::relaxed);  // relaxed: a statistic.
}

}  // namespace HEIST_NAMESPACE

namespace HEIST_NAMESPACE::detail {

void report_error(ErrorOrigin origin, const Reason& reason) noexcept {
  error_count.fetch_add(1, sync::relaxed);  // relaxed: a statistic.
  error_hook.load(sync::edge("error_hook:call", sync::acquire))(origin, reason);
}

}  // namespace HEIST_NAMESPACE::detail
