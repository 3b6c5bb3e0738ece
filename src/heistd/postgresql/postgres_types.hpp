// PostgresType: how values of C++ are values of PostgreSQL, in its binary format.
#pragma once

#include <postgres_ext.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

namespace heistd {

/// A value of type bytea.   Lifetime: that of the bytes.
struct PostgresBytes {
  std::string_view bytes;
  bool operator==(const PostgresBytes&) const = default;
};

using PostgresUuid = std::array<std::byte, 16>;
/// A value of type timestamptz. The largest and the smallest stand for infinity and -infinity.
/// PostgreSQL has years from -4713 to 294276. What lies before is refused, and the last thirty of
/// them are read as infinity.
using PostgresTime = std::chrono::sys_time<std::chrono::microseconds>;

/// For each type: its number in PostgreSQL, that of arrays of it, how a value is written behind
/// others, and how it is read.   Errors of decode: std::logic_error for bytes that are none.
template <class T>
struct PostgresType;

/// Integers go over the wire with the highest byte first.
template <class Integer>
void append_integer(std::string& out, Integer value) {
  using Bits = std::make_unsigned_t<Integer>;
  const auto bits = static_cast<Bits>(value);
  for (std::size_t byte = sizeof(Integer); byte-- > 0;) {
    out.push_back(static_cast<char>((bits >> (8 * byte)) & 0xFFU));
  }
}

/// Errors: std::logic_error.
void expect_size(std::string_view bytes, std::size_t size);

template <class Integer>
[[nodiscard]] Integer read_integer(std::string_view bytes) {
  expect_size(bytes, sizeof(Integer));
  std::make_unsigned_t<Integer> bits = 0;
  for (const char byte : bytes) {
    bits =
        static_cast<decltype(bits)>((std::uint64_t{bits} << 8U) | static_cast<unsigned char>(byte));
  }
  return static_cast<Integer>(bits);
}

template <class Integer, Oid its_oid, Oid its_array_oid>
struct PostgresInteger {
  static constexpr Oid oid = its_oid;
  static constexpr Oid array_oid = its_array_oid;
  static void encode(std::string& out, Integer value) { append_integer(out, value); }
  static Integer decode(std::string_view bytes) { return read_integer<Integer>(bytes); }
};

// The numbers of types are fixed: PostgreSQL's catalog/pg_type.dat has them.
template <>
struct PostgresType<std::int16_t> : PostgresInteger<std::int16_t, 21, 1005> {};
template <>
struct PostgresType<std::int32_t> : PostgresInteger<std::int32_t, 23, 1007> {};
template <>
struct PostgresType<std::int64_t> : PostgresInteger<std::int64_t, 20, 1016> {};

template <>
struct PostgresType<bool> {
  static constexpr Oid oid = 16;
  static constexpr Oid array_oid = 1000;
  static void encode(std::string& out, bool value) { out.push_back(value ? '\1' : '\0'); }
  static bool decode(std::string_view bytes);
};

template <>
struct PostgresType<double> {
  static constexpr Oid oid = 701;
  static constexpr Oid array_oid = 1022;
  static void encode(std::string& out, double value);
  static double decode(std::string_view bytes);
};

/// In UTF-8, without the character 0: the server refuses other texts.
template <>
struct PostgresType<std::string_view> {
  static constexpr Oid oid = 25;
  static constexpr Oid array_oid = 1009;
  static void encode(std::string& out, std::string_view value) { out += value; }
  static std::string_view decode(std::string_view bytes) { return bytes; }
};

template <>
struct PostgresType<PostgresBytes> {
  static constexpr Oid oid = 17;
  static constexpr Oid array_oid = 1001;
  static void encode(std::string& out, PostgresBytes value) { out += value.bytes; }
  static PostgresBytes decode(std::string_view bytes) { return {bytes}; }
};

template <>
struct PostgresType<PostgresUuid> {
  static constexpr Oid oid = 2950;
  static constexpr Oid array_oid = 2951;
  static void encode(std::string& out, const PostgresUuid& value);
  static PostgresUuid decode(std::string_view bytes);
};

template <>
struct PostgresType<PostgresTime> {
  static constexpr Oid oid = 1184;
  static constexpr Oid array_oid = 1185;
  static void encode(std::string& out, PostgresTime value);
  static PostgresTime decode(std::string_view bytes);
};

/// A type as one writes it: std::string and literals are texts.
template <class T>
using PostgresValue =
    std::conditional_t<std::is_convertible_v<const T&, std::string_view>, std::string_view, T>;

}  // namespace heistd
