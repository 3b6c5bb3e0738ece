// The error hook is set while errors are reported (LIF-3).
#include <heist/heist.hpp>

#include "../support.hpp"

namespace {

using namespace heist;
using namespace heist::model;

int prepared = 0;
int heard = 0;

void ignore(ErrorOrigin /*origin*/, const Reason& /*reason*/) noexcept {}
void listen(ErrorOrigin /*origin*/, const Reason& reason) noexcept {
  heard += prepared;
  check(reason.what() == "a fault", "the error that was reported");
}

}  // namespace

/// An error goes to the hook before or the hook after, and that one finds what was prepared for it.
HEIST_MODEL_PROGRAM(error_against_new_hook, 3) {
  set_error_hook(&ignore);
  prepared = heard = 0;
  spawn([] {
    prepared = 1;
    set_error_hook(&listen);
  });
  EventLoop loop(on_virtual_clock());
  loop.scheduler().post([] { throw std::runtime_error("a fault"); });
  loop.run_until_idle();
  if (!join_all()) return;
  check(set_error_hook(&ignore) == &listen && heard <= 1, "the new hook stays");
}
