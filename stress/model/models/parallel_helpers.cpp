// HelperCount and WaitingHelpers: who helps a parallel region, and that nobody waits for nothing.
#include <optional>

#include "../../../src/parallel/helper_count.hpp"
#include "../../../src/parallel/waiting_helpers.hpp"
#include "../support.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

/// A helper, which has what it waits with.
struct Helper {
  int token = 0;
};

/// A region of two agents, without oneTBB.
struct Region {
  /// Takes an offer, as who begins a part does.
  void take() {
    if (count.take()) let_go();
  }
  void let_go() {
    if (Helper* helper = waiting.let_go(1)) {
      check(helper->token == 1, "who waits has made its token");
      helper->token = 2;
    }
  }
  /// A helper that has come begins to wait.
  void wait(Helper& helper) {
    helper.token = 1;
    waiting.announce(1, helper);
    if (!count.has_offers()) let_go();
  }

  HelperCount count;
  WaitingHelpers<Helper> waiting{2};
  int field = 0;  ///< of the call
};

}  // namespace

/// The caller takes its offer back while a helper begins to wait: that one is let go.
HEIST_MODEL_PROGRAM(last_offer_against_waiting, 3) {
  Region region;
  std::optional<Helper> helper;
  check(region.count.offer(1), "a helper is called");
  spawn([&] {
    if (!region.count.try_enter()) return;
    helper.emplace();
    region.wait(*helper);
  });
  region.take();
  if (!join_all()) return;
  check(!helper || helper->token == 2, "it does not wait");
}

/// The same with two who take an offer each.
HEIST_MODEL_PROGRAM(two_takers_against_waiting, 3) {
  Region region;
  Helper helper;
  check(region.count.offer(1), "a helper is called");
  check(!region.count.offer(1), "there is only one");
  check(region.count.try_enter(), "something is offered");
  spawn([&] { region.take(); });
  spawn([&] { region.take(); });
  region.wait(helper);
  if (!join_all()) return;
  check(helper.token == 2, "it does not wait");
}

/// A helper leaves while something is offered: it stays, or another one is called.
HEIST_MODEL_PROGRAM(offer_against_leaving, 3) {
  HelperCount count;
  check(count.offer(1) && count.try_enter() && count.take(), "it has come");
  bool left = false;
  spawn([&] { left = count.try_leave(); });
  const bool calls = count.offer(1);
  if (!join_all()) return;
  check(calls == left, "as many help as may");
  check(count.take(), "the offer is there");
}

/// The owner begins another call when no helper is inside: none of them reads what it writes.
HEIST_MODEL_PROGRAM(next_call_against_late_helper, 3) {
  Region region;
  region.field = 1;
  check(region.count.offer(1), "a helper is called");
  spawn([&] {
    if (!region.count.try_enter()) return;
    check(region.field != 0, "the call is there");
    static_cast<void>(region.count.try_leave());
  });
  static_cast<void>(region.count.take());
  if (!region.count.has_helpers_inside()) {
    region.field = 2;
    static_cast<void>(region.count.offer(1));
  }
  static_cast<void>(join_all());
}
