// Where lists go on.
#include <gtest/gtest.h>

#include <heistd/list_cursor.hpp>

namespace heistd {
namespace {

TEST(ListCursorTest, open_when_it_was_sealed_here_then_it_is_the_same_place) {
  const ListCursor cursor;
  for (const AcceptanceOrder order : {AcceptanceOrder{1}, AcceptanceOrder{1} << 62U}) {
    EXPECT_EQ(cursor.open(cursor.seal(order)), order);
  }
}

// Rule: SEC-1
TEST(ListCursorTest, open_when_it_was_not_sealed_here_then_nothing) {
  const ListCursor cursor;
  const ListCursor other;
  auto changed = cursor.seal(7);
  changed.back() = changed.back() == '0' ? '1' : '0';
  for (const auto& text : {std::string(), std::string("7"), std::string(32, '0'),
                           std::string(32, 'g'), changed, cursor.seal(7) + "0", other.seal(7)}) {
    EXPECT_EQ(cursor.open(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace heistd
