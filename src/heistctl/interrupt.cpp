#include <csignal>
#include <ctime>
#include <heistctl/failure.hpp>
#include <heistctl/interrupt.hpp>

namespace heistctl {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_interrupt(int /*number*/) { noted = 1; }

}  // namespace

void note_interrupts() noexcept {
  struct sigaction action{};
  action.sa_handler = note_interrupt;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

void check_interrupts() {
  if (noted != 0) throw Failure(ExitCode::interrupted, "interrupted");
}

void forget_interrupts() noexcept { noted = 0; }

void pause_for(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec left{seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
  // A signal ends it; who waits for something looks again then.
  nanosleep(&left, nullptr);
  check_interrupts();
}

}  // namespace heistctl
