// Of queues that come in their order, as those of new tasks do, the first one goes at once, however
// many there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "heist/task/pairing_heap.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

struct Item {
  int key = 0;
  Item* child = nullptr;
  Item* sibling = nullptr;
  Item* previous = nullptr;
};

std::size_t comparisons = 0;

bool is_before(const Item& a, const Item& b) noexcept {
  ++comparisons;
  return a.key < b.key;
}

class PairingHeapTest : public testing::Test {
 protected:
  static constexpr int count = 10'000;
  static constexpr std::size_t few = 20;

  PairingHeapTest() {
    for (int i = 0; i < count; ++i) items[static_cast<std::size_t>(i)].key = i;
  }
  void insert_all() {
    for (auto& item : items) heap.insert(item);
  }
  /// Takes all that is left; the most comparisons that one took.
  std::size_t take_all(std::size_t left) {
    std::size_t most = 0;
    for (int last = -1; Item* top = heap.top(); --left) {
      EXPECT_LT(last, top->key);
      last = top->key;
      comparisons = 0;
      heap.erase(*top);
      most = std::max(most, comparisons);
    }
    EXPECT_EQ(left, 0U);
    return most;
  }

  PairingHeap<Item, &is_before> heap;
  std::vector<Item> items = std::vector<Item>(count);
};

TEST_F(PairingHeapTest, erase_when_all_came_in_order_then_each_costs_little) {
  insert_all();
  EXPECT_LE(take_all(count), few);
}

TEST_F(PairingHeapTest, erase_when_they_came_in_reverse_then_each_costs_little) {
  std::ranges::reverse(items);
  insert_all();
  EXPECT_LE(take_all(count), few);
}

TEST_F(PairingHeapTest, erase_when_every_other_one_has_left_then_each_costs_little) {
  insert_all();
  for (std::size_t i = 1; i < items.size(); i += 2) heap.erase(items[i]);
  EXPECT_LE(take_all(count / 2), few);
}

TEST_F(PairingHeapTest, erase_when_the_newest_left_each_time_then_each_costs_little) {
  for (std::size_t i = 0; i < items.size(); i += 2) {
    heap.insert(items[i]);
    heap.insert(items[i + 1]);
    heap.erase(items[i + 1]);
  }
  EXPECT_LE(take_all(count / 2), few);
}

TEST_F(PairingHeapTest, order_when_they_come_and_go_at_random_then_kept) {
  std::mt19937 random(7);
  std::ranges::shuffle(items, random);
  insert_all();
  std::vector<Item*> inside;
  for (auto& item : items) inside.push_back(&item);
  for (int i = 0; i < count; ++i) {
    Item& item = *inside[random() % inside.size()];
    if (random() % 2 == 0) {
      heap.erase(item);
      item.key = static_cast<int>(random() % 1'000'000) + count;
      heap.insert(item);
    } else {
      item.key += count;
      heap.changed(item);
    }
  }
  int last = -1;
  std::size_t taken = 0;
  for (; Item* top = heap.top(); ++taken) {
    EXPECT_LE(last, top->key);
    last = top->key;
    heap.erase(*top);
  }
  EXPECT_EQ(taken, items.size());
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
