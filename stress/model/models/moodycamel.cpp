// Why moodycamel's queue is no stealable queue (CLU-1, CLU-3): with several consumers it may look
// empty when it is not.
#include "../abstract_queue.hpp"
#include "../cluster_queues.hpp"

using namespace heist::model;
using namespace heist;
using namespace heist::detail;

/// A test runs it and expects that it fails: two items, one of which has been there all along;
/// three agents look.
HEIST_MODEL_PROGRAM(naive_moodycamel_search, 2) {
  AbstractQueue<1, 4> queue;
  sync::atomic<int> posted{0};
  sync::atomic<int> taken{0};
  const auto look = [&] {
    const int before = posted.load(sync::acquire);
    if (queue.try_dequeue()) {
      taken.fetch_add(1, sync::relaxed);
    } else {
      touch(taken);
      check(taken.load(sync::relaxed) >= before, "a search finds what was posted before");
    }
  };
  spawn([&] {
    for (int i = 1; i <= 2; ++i) {
      queue.enqueue(0, i);
      posted.store(i, sync::release);
    }
  });
  spawn(look);
  spawn(look);
  look();
  join_all();
}

/// What it does promise: each producer's items in their order, each to one consumer, none lost.
HEIST_MODEL_PROGRAM(abstract_queue_gives_each_item_to_one, 2) {
  AbstractQueue<2, 2> queue;
  std::array<int, 4> times{};
  const auto take = [&] {
    int last[2] = {-1, -1};
    for (int i = 0; i < 2; ++i) {
      const auto item = queue.try_dequeue();
      if (!item) continue;
      int& before = last[*item / 2];
      check(*item > before, "first in, first out");
      before = *item;
      const model::Unwatched scope;
      ++times.at(static_cast<std::size_t>(*item));
    }
  };
  for (unsigned producer = 0; producer < 2; ++producer) {
    spawn([&, producer] {
      const int first = static_cast<int>(producer) * 2;
      queue.enqueue(producer, first);
      queue.enqueue(producer, first + 1);
    });
  }
  spawn(take);
  take();
  if (!join_all()) return;
  take();
  take();
  for (const int count : times) check(count == 1, "each item is taken once");
}
