// Order: chains of posts across threads onto one agent, with and without delays
// (support/order_workload.hpp).
//
// I1  If one post happened before another one of the same level, whatever the threads, its task
//     runs first (ORD-2). With delays this holds if its delay is not longer (DLY-2).
// I2  No task is picked while a task of a higher level waits whose post had returned when the pick
//     began (ORD-3).
#include "support/order_workload.hpp"
#include "support/stress_run.hpp"

int main(int argc, char** argv) {
  using namespace heist::stress;
  const auto options = parse("order_stress", {argv, static_cast<std::size_t>(argc)});
  OrderWorkload at_once(OrderWorkload::Delays::none);
  OrderWorkload delayed(OrderWorkload::Delays::some);
  run_rounds(options, [&](Random& random) {
    OrderWorkload& workload = random.one_in(4) ? delayed : at_once;
    workload.round(random);
    check(workload.totals().violation == nullptr, workload.totals().violation);
  });
  const OrderTotals& seen = at_once.totals();
  std::printf(
      "rounds %llu, tasks %llu, happens-before pairs across threads %llu, overlapping chains %llu, "
      "overlapping posts %llu, pairs decided by level %llu, by age %llu, delayed rounds %llu\n",
      printable(seen.rounds), printable(seen.tasks), printable(seen.handed_over_pairs),
      printable(seen.overlapping_chains), printable(seen.overlapping_posts),
      printable(seen.level_pairs), printable(seen.age_pairs), printable(delayed.totals().rounds));
  check(seen.handed_over_pairs > 10 * seen.rounds, "too few posts were ordered across threads");
  check(seen.overlapping_chains > 0 || seen.rounds < 10, "no chains overlapped");
}
