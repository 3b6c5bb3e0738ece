#include "crash.hpp"

#include <array>
#include <csignal>
#include <cstddef>

#include "engine.hpp"

namespace heist::model {

namespace {

/// Not the stack of the fiber that crashed: that may be what has run out.
alignas(16) std::array<std::byte, std::size_t{256} << 10> stack;

/// Synchronous: the program's own instruction has raised it, so the engine is at rest.
void crashed(int signal) {
  if (Engine* engine = Engine::watching(nullptr)) {
    engine->fail(signal == SIGABRT ? "crash: the program gave up (an assertion, an exception)"
                                   : "crash: an invalid access");
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void report_crashes() {
  stack_t alternate{};
  alternate.ss_sp = stack.data();
  alternate.ss_size = stack.size();
  sigaltstack(&alternate, nullptr);
  struct sigaction action{};
  action.sa_handler = &crashed;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;  // fail() does not return
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) sigaction(signal, &action, nullptr);
}

}  // namespace heist::model
