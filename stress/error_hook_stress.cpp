// The error hook: it is replaced while two agents report errors to it.
//
// I1  Every error reaches exactly one hook, and that hook finds what its setter prepared before it
//     set it.
// I2  set_error_hook() returns the hook that it replaced: no hook is lost, and none comes twice.
#include <array>
#include <heist/heist.hpp>
#include <stdexcept>
#include <utility>

#include "support/crew.hpp"
#include "support/fence.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t hook_count = 6;
constexpr std::size_t reporters = 2;
constexpr std::uint64_t errors_each = 8;

/// What each hook works with. It is plain data that is written before the hook is set.
std::array<std::uint64_t, hook_count> prepared{};
std::uint64_t round_number = 0;
sync::atomic<std::uint64_t> heard{0};

template <std::size_t hook>
void hear(ErrorOrigin /*origin*/, const Reason& /*reason*/) noexcept {
  check(prepared[hook] == round_number, "a hook was called that was not prepared");
  heard.fetch_add(1, sync::relaxed);  // relaxed: a count.
}

template <std::size_t... hooks>
constexpr auto all_hooks(std::index_sequence<hooks...>) {
  return std::array<ErrorHook, sizeof...(hooks)>{&hear<hooks>...};
}
constexpr auto hooks = all_hooks(std::make_index_sequence<hook_count>());

class ErrorHookStress {
 public:
  void round(Random& random) {
    ++round_number;
    prepared[0] = round_number;
    set_error_hook(hooks[0]);
    heard.store(0, sync::relaxed);  // relaxed: before the start.
    const std::uint64_t seed = random();
    crew_.run([this, seed](std::size_t member) {
      Random own(seed + member);
      member == 0 ? replace(own) : report(agents_[member - 1], own);
    });
    for (Agent& agent : agents_) fence(agent.scheduler());
    check(heard.load(sync::relaxed) == reporters * errors_each, "an error was lost");
    // relaxed above: a quiet point.
  }

 private:
  static void replace(Random& random) {
    for (std::size_t hook = 1; hook < hook_count; ++hook) {
      dither(random);
      prepared[hook] = round_number;
      check(set_error_hook(hooks[hook]) == hooks[hook - 1], "a hook got lost");
    }
  }

  static void report(Agent& agent, Random& random) {
    for (std::uint64_t i = 0; i < errors_each; ++i) {
      check(agent.scheduler().post([] { throw std::runtime_error("on purpose"); }),
            "an open agent refused a task");
      dither(random);
    }
  }

  Agent agents_[reporters];
  Crew crew_{1 + reporters};
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("error_hook_stress", {argv, static_cast<std::size_t>(argc)});
  ErrorHookStress stress;
  const auto rounds = run_rounds(options, [&stress](Random& random) { stress.round(random); });
  set_error_hook(nullptr);
  std::printf("rounds %llu, errors %llu\n", printable(rounds), printable(reported_error_count()));
}
