// Rule: PRO-1: containers of move-only values claim to be copyable; they are moved all the same.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "api/probes.hpp"

namespace heist {
namespace {

using Row = std::vector<std::unique_ptr<int>>;

Row row_of(int value) {
  Row row;
  row.push_back(std::make_unique<int>(value));
  return row;
}

Promise<int> await_rvalue(Promise<Row> source) {
  const Row row = co_await source.taken();
  co_return *row.front();
}

Promise<int> await_lvalue(Promise<Row> source) {
  const Row row = co_await source;
  co_return *row.front();
}

class Pro1MoveOnlyElements : public test::LoopTest {
 protected:
  [[nodiscard]] Promise<Row> post_row() const {
    return scheduler.post_task([] { return row_of(5); });
  }
};

// Rule: PRO-1
TEST_F(Pro1MoveOnlyElements, get_when_on_a_temporary_handle_then_the_value_is_moved_out) {
  auto promise = post_row();
  loop.run_until_idle();
  const int* const element = promise.get().front().get();
  const Row row = std::move(promise).get();
  EXPECT_EQ(row.front().get(), element);
}

// Rule: PRO-1
TEST_F(Pro1MoveOnlyElements, await_when_through_an_rvalue_then_the_value_is_moved_out) {
  auto result = Promise<int>::resolved(0);
  run_task([&] { result = await_rvalue(post_row()); });
  EXPECT_EQ(result.get(), 5);
}

// Rule: PRO-1 (not torn from the other holders of a promise)
TEST_F(Pro1MoveOnlyElements, await_when_through_an_lvalue_then_invalid_state) {
  auto result = Promise<int>::resolved(0);
  run_task([&] { result = await_lvalue(post_row()); });
  EXPECT_TRUE(test::is<InvalidStateError>(result.reason()));
}

// Rule: PRO-1
TEST_F(Pro1MoveOnlyElements, promise_when_a_task_returns_it_then_its_value_is_moved_on) {
  auto promise = scheduler.post_task([this] { return post_row(); });
  loop.run_until_idle();
  EXPECT_EQ(*std::move(promise).get().front(), 5);
}

// Rule: PRO-1
TEST_F(Pro1MoveOnlyElements, get_when_containers_are_nested_then_the_value_is_moved_out) {
  auto promise = scheduler.post_task([] {
    std::vector<Row> table;
    table.push_back(row_of(6));
    return table;
  });
  loop.run_until_idle();
  EXPECT_EQ(*std::move(promise).get().front().front(), 6);
}

}  // namespace
}  // namespace heist
