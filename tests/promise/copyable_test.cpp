// Rule: PRO-1: which values a promise copies, and which it can only move.
#include <gtest/gtest.h>

#include <array>
#include <heist/heist.hpp>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "api/probes.hpp"

namespace HEIST_NAMESPACE::detail {
namespace {

using MoveOnly = std::vector<std::unique_ptr<int>>;

/// Values that contain their own kind.
struct Dictionary : std::map<std::string, Dictionary> {};
struct Ping;
struct Pong : std::vector<Ping> {};
struct Ping : std::vector<Pong> {};

/// A range one can only write to.
struct Sink {
  using allocator_type = std::allocator<char>;
  std::back_insert_iterator<std::string> begin() { return std::back_inserter(text); }
  static std::unreachable_sentinel_t end() { return {}; }
  std::string text;
};

/// Claims to be copyable, and is no container.
struct Claims {};

}  // namespace
}  // namespace HEIST_NAMESPACE::detail

template <>
struct heist::Copyable<heist::detail::Claims> : std::false_type {};

namespace HEIST_NAMESPACE::detail {
namespace {

static_assert(is_copyable<int> && is_copyable<std::string> && is_copyable<std::vector<int>>);
static_assert(is_copyable<Dictionary> && is_copyable<Pong>);
static_assert(is_copyable<std::map<int, std::pair<std::string, std::optional<int>>>>);
static_assert(!is_copyable<std::unique_ptr<int>> && !is_copyable<MoveOnly>);
static_assert(!is_copyable<std::vector<MoveOnly>>);
static_assert(!is_copyable<std::array<MoveOnly, 2>>);
static_assert(!is_copyable<std::map<int, MoveOnly>> && !is_copyable<std::map<MoveOnly, int>>);
static_assert(!is_copyable<std::map<std::pair<int, MoveOnly>, int>>);
static_assert(!is_copyable<std::tuple<int, MoveOnly>> && !is_copyable<std::optional<MoveOnly>>);
static_assert(!is_copyable<std::variant<int, MoveOnly>>);
static_assert(!is_copyable<std::queue<std::unique_ptr<int>>> && is_copyable<std::queue<int>>);
static_assert(!is_copyable<std::optional<const std::pair<int, MoveOnly>>>);
static_assert(is_copyable<Sink>);
static_assert(!is_copyable<Claims> && !is_copyable<std::vector<std::pair<int, Claims>>>);

// Rule: PRO-1
TEST(Pro1Copyable, get_when_an_array_has_move_only_elements_then_it_is_moved_out) {
  std::array<MoveOnly, 2> rows;
  rows[1].push_back(std::make_unique<int>(7));
  auto promise = Promise<std::array<MoveOnly, 2>>::resolved(std::move(rows));
  const auto taken = std::move(promise).get();
  EXPECT_EQ(*taken[1].front(), 7);
}

// Rule: PRO-1
TEST(Pro1Copyable, get_when_a_value_contains_its_own_kind_then_a_copy) {
  Dictionary value;
  value["a"]["b"];
  const auto promise = Promise<Dictionary>::resolved(value);
  EXPECT_EQ(Promise<Dictionary>(promise).get().at("a").count("b"), 1U);
  EXPECT_EQ(promise.get().at("a").count("b"), 1U);
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
