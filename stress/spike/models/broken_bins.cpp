// Bins at their limits.
#include <array>

#include "support.hpp"

using namespace heist::spike;
using namespace heist;

/// More than K tasks in transfer: a thief that took an overfull bin holds them all (CLU-1's "at most K").
HEIST_MODEL_PROGRAM(broken_more_than_a_bin_in_transfer, 0) {
  BinRing<2, 2> bins;
  std::array<CountedTask, 8> tasks;
  for (auto& task : tasks) bins.post(task);
  for (SpikeTask* first = bins.take(); first != nullptr; first = bins.take()) {
    int count = 0;
    for (; first != nullptr; first = first->next) ++count;
    check(count <= 2, "at most K are in transfer");
  }
}

/// Any stall of 2^15 to 2^16 rounds, not of exactly 2^16 of them, makes a poster post where nobody looks: the words are
/// set as so many rounds leave them, and tail_ is what the poster had read. (The fewer rounds, the longer it walks.)
HEIST_MODEL_PROGRAM(broken_stall_of_many_rounds, 0) {
  constexpr std::uint64_t rounds = (1U << 16) - 9;
  BinRing<2, 2> bins;
  CountedTask task;
  bool is_head = true;
  bins.each_word([&](sync::atomic<std::uint64_t>& word) {
    word.store(std::exchange(is_head, false) ? rounds * 2 : rounds << 48, sync::relaxed);
  });
  bins.post(task);
  check(bins.has_tasks(), "what was posted is found");
}
