// Addresses that do not fit into the library's packed words.
#include "heist/memory/address_bits.hpp"

#include <gtest/gtest.h>

#include <bit>

namespace HEIST_NAMESPACE::detail {
namespace {

constexpr std::uintptr_t longest = (std::uintptr_t{1} << 48) - 1;

TEST(AddressBits, address_when_it_has_48_bits_then_accepted) {
  expect_short_address(std::bit_cast<const void*>(longest));
}

TEST(AddressBits, address_when_its_upper_byte_is_a_tag_then_the_program_ends_and_says_why) {
  const std::uintptr_t tagged = std::uintptr_t{3} << 56 | 0x1000;
  EXPECT_DEATH(expect_short_address(std::bit_cast<const void*>(tagged)), "more than 48 bits");
}

TEST(AddressBits, address_when_one_bit_too_long_then_the_program_ends) {
  EXPECT_DEATH(expect_short_address(std::bit_cast<const void*>(longest + 1)), "tagged addresses");
}

}  // namespace
}  // namespace HEIST_NAMESPACE::detail
