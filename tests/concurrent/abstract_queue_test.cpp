// The abstraction that models use for moodycamel's queue, held against the real one: the same
// properties of both.
#include "../../stress/model/abstract_queue.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "heist/concurrent/moodycamel.hpp"

namespace {

constexpr unsigned producers = 2;
constexpr int items_each = 400;

/// Elements that the real queue hands over without plain accesses of its own (version 1.0.3 orders
/// the re-use of its blocks with release only, where consumers are several). So `item` has no
/// initializer: that would be a plain write, too.
struct Slot {
  int item;
  Slot() noexcept { put(0); }                             // NOLINT(*-member-init)
  explicit Slot(int what) noexcept { put(what); }         // NOLINT(*-member-init)
  Slot(const Slot& other) noexcept { put(other.get()); }  // NOLINT(*-member-init)
  Slot& operator=(const Slot& other) noexcept {
    put(other.get());
    return *this;
  }
  void put(int what) noexcept { std::atomic_ref<int>(item).store(what, std::memory_order_relaxed); }
  [[nodiscard]] int get() const noexcept {
    return std::atomic_ref<int>(const_cast<int&>(item)).load(std::memory_order_relaxed);
  }
};

/// Implicit producers: one for each thread that enqueues.
class Moodycamel {
 public:
  void enqueue(unsigned /*producer*/, int item) { ASSERT_TRUE(queue_.enqueue(Slot(item))); }
  std::optional<int> try_dequeue() {
    Slot slot;
    return queue_.try_dequeue(slot) ? std::optional(slot.item) : std::nullopt;
  }

 private:
  moodycamel::ConcurrentQueue<Slot> queue_;
};

class Abstract {
 public:
  void enqueue(unsigned producer, int item) { ASSERT_TRUE(queue_.enqueue(producer, item)); }
  std::optional<int> try_dequeue() { return queue_.try_dequeue(); }

 private:
  heist::model::AbstractQueue<producers, items_each> queue_;
};

int producer_of(int item) { return item / items_each; }

/// What one consumer got, in its order.
using Taken = std::vector<int>;

void expect_fifo_per_producer(const Taken& taken) {
  std::array<int, producers> last{-1, -1};
  for (const int item : taken) {
    int& before = last.at(static_cast<std::size_t>(producer_of(item)));
    EXPECT_GT(item, before) << "of producer " << producer_of(item);
    before = item;
  }
}

void expect_each_once(const std::vector<Taken>& all) {
  std::vector<int> times(producers * items_each, 0);
  for (const auto& taken : all) {
    for (const int item : taken) ++times.at(static_cast<std::size_t>(item));
  }
  EXPECT_THAT(times, testing::Each(1));
}

template <class Queue>
void produce(Queue& queue, unsigned producer) {
  for (int i = 0; i < items_each; ++i) {
    queue.enqueue(producer, static_cast<int>(producer) * items_each + i);
  }
}

template <class Queue>
class EitherQueue : public testing::Test {};
using Queues = testing::Types<Moodycamel, Abstract>;
TYPED_TEST_SUITE(EitherQueue, Queues);

TYPED_TEST(EitherQueue, when_one_thread_uses_it_then_it_is_never_wrongly_empty) {
  TypeParam queue;
  std::mt19937 random(7);
  std::size_t held = 0;
  int next = 0;
  Taken taken;
  while (next < items_each || held != 0) {
    if (next < items_each && random() % 2 == 0) {
      queue.enqueue(0, next++);
      ++held;
    } else {
      const auto item = queue.try_dequeue();
      ASSERT_EQ(item.has_value(), held != 0);
      if (!item) continue;
      taken.push_back(*item);
      --held;
    }
  }
  expect_fifo_per_producer(taken);
  EXPECT_EQ(taken.size(), static_cast<std::size_t>(items_each));
}

TYPED_TEST(EitherQueue, when_threads_share_it_then_each_item_leaves_once_in_its_producers_order) {
  TypeParam queue;
  std::vector<Taken> taken(2);
  std::atomic<int> left{static_cast<int>(producers) * items_each};
  {
    std::vector<std::jthread> threads;
    for (unsigned producer = 0; producer < producers; ++producer) {
      threads.emplace_back([&queue, producer] { produce(queue, producer); });
    }
    for (auto& mine : taken) {
      threads.emplace_back([&] {
        // It may look empty when it is not, so only the count says when all is taken.
        while (left.load(std::memory_order_relaxed) > 0) {
          if (const auto item = queue.try_dequeue()) {
            mine.push_back(*item);
            left.fetch_sub(1, std::memory_order_relaxed);
          } else {
            std::this_thread::yield();
          }
        }
      });
    }
  }
  for (const auto& mine : taken) expect_fifo_per_producer(mine);
  expect_each_once(taken);
  EXPECT_EQ(queue.try_dequeue(), std::nullopt);
}

}  // namespace
