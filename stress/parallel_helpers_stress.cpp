// HelperCount and WaitingHelpers, as regions of parallel loops use them. oneTBB is left out,
// because ThreadSanitizer does not see into it. One owner makes one call after another, and takes
// its offers back while two helpers come, wait and leave.
//
// I1  A helper that has come finds what the owner has written for the call. Between two calls no
//     helper is inside.
// I2  No helper waits when nothing is offered any more: each wait ends.
#include <array>
#include <heist/detail/sync.hpp>
#include <thread>

#include "../src/parallel/helper_count.hpp"
#include "../src/parallel/waiting_helpers.hpp"
#include "support/crew.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr unsigned helpers = 2;
constexpr std::uint64_t calls_each_round = 200;

struct Helper {
  std::uint64_t token = 0;  ///< plain data
  sync::atomic<bool> is_let_go{false};
};

class ParallelHelpers {
 public:
  void round(Random& random) {
    const std::uint64_t seed = random();
    has_ended_.store(false, sync::relaxed);  // relaxed: before the start.
    called_.store(0, sync::relaxed);         // relaxed: as above.
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      member == 0 ? make_calls(own) : help(static_cast<unsigned>(member));
    });
    // A helper that was called and has not come must not come in the next round.
    for (auto left = called_.load(sync::relaxed); left != 0; --left) {  // relaxed: a quiet point.
      check(!count_.try_enter(), "nothing is offered");
    }
    check(!count_.has_helpers_inside(), "nobody is inside");
  }
  [[nodiscard]] std::uint64_t waits() const noexcept { return waits_.load(sync::relaxed); }
  // relaxed above: a quiet point.

 private:
  void make_calls(Random& random) {
    for (std::uint64_t call = 0; call < calls_each_round; ++call) {
      while (count_.has_helpers_inside()) std::this_thread::yield();
      call_ = call + 1;
      const auto offers = 1 + random.below(2);
      for (std::uint64_t i = 0; i < offers; ++i) offer();
      dither(random);
      for (std::uint64_t i = 0; i < offers; ++i) take();
    }
    has_ended_.store(true, sync::relaxed);  // relaxed: carries nothing.
  }
  void offer() {
    if (count_.offer(helpers)) called_.fetch_add(1, sync::relaxed);  // relaxed: carries nothing.
  }
  void take() {
    if (!count_.take()) return;
    for (unsigned helper = 1; helper <= helpers; ++helper) let_go(helper);
  }
  void let_go(unsigned member) {
    Helper* helper = waiting_.let_go(member);
    if (helper == nullptr) return;
    check(helper->token == member, "who waits has its token");
    helper->is_let_go.store(true, sync::edge("stress:let_go", sync::release));
  }

  void help(unsigned member) {
    while (!has_ended_.load(sync::relaxed)) {  // relaxed: carries nothing.
      if (comes()) take_part(member);
      std::this_thread::yield();
    }
  }
  bool comes() {
    auto called = called_.load(sync::relaxed);  // relaxed: carries nothing.
    // relaxed: as above.
    return called != 0 &&
           called_.compare_exchange_strong(called, called - 1, sync::relaxed, sync::relaxed) &&
           count_.try_enter();
  }
  void take_part(unsigned member) {
    do {
      check(call_ != 0, "the call is there");
      wait(member);
    } while (!count_.try_leave());
  }
  void wait(unsigned member) {
    Helper helper;
    helper.token = member;
    waiting_.announce(member, helper);
    if (!count_.has_offers()) let_go(member);
    while (!helper.is_let_go.load(sync::edge("stress:wait", sync::acquire))) {
      std::this_thread::yield();
    }
    waits_.fetch_add(1, sync::relaxed);  // relaxed: a count.
  }

  HelperCount count_;
  WaitingHelpers<Helper> waiting_{1 + helpers};
  std::uint64_t call_ = 0;  ///< plain data
  sync::atomic<std::uint64_t> called_{0};
  sync::atomic<std::uint64_t> waits_{0};
  sync::atomic<bool> has_ended_{false};
  Crew crew_{1 + helpers};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("parallel_helpers_stress", {argv, static_cast<std::size_t>(argc)});
  ParallelHelpers stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  std::printf("rounds %llu, waits %llu\n", printable(rounds), printable(stress.waits()));
}
