// The AbortError of an abort without a reason: two threads look at it first at the same time.
//
// I1  Both see the same exception, an AbortError, whole.
// I2  Reasons of different aborts have different exceptions.
#include <array>
#include <exception>
#include <heist/heist.hpp>
#include <optional>

#include "support/crew.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::stress;

constexpr std::size_t lookers = 2;

class AbortReasonStress {
 public:
  void round(Random& random) {
    const Reason before = std::exchange(reason_, Reason::of_abort());
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      const Reason mine = reason_;
      dither(own);
      seen_[member] = mine.exception();
      check(mine.what() == "the operation was aborted", "the exception is not whole");
    });
    check(seen_[0] != nullptr && seen_[0] == seen_[1], "one abort has two exceptions");
    check(!before || before.exception() != seen_[0], "two aborts share an exception");
    seen_ = {};
  }

 private:
  Reason reason_;
  std::array<std::exception_ptr, lookers> seen_;
  Crew crew_{lookers};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("abort_reason_stress", {argv, static_cast<std::size_t>(argc)});
  AbortReasonStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  std::printf("rounds %llu\n", printable(rounds));
}
