#include <bit>
#include <cstring>
#include <heistd/postgresql/postgres_types.hpp>
#include <stdexcept>

namespace heistd {
namespace {

/// From which PostgreSQL counts.
constexpr PostgresTime epoch = std::chrono::sys_days{std::chrono::year{2000} / 1 / 1};

}  // namespace

void expect_size(std::string_view bytes, std::size_t size) {
  if (bytes.size() == size) return;
  throw std::logic_error("a value of PostgreSQL has " + std::to_string(bytes.size()) +
                         " bytes instead of " + std::to_string(size));
}

bool PostgresType<bool>::decode(std::string_view bytes) {
  expect_size(bytes, 1);
  return bytes.front() != '\0';
}

void PostgresType<double>::encode(std::string& out, double value) {
  append_integer(out, std::bit_cast<std::int64_t>(value));
}

double PostgresType<double>::decode(std::string_view bytes) {
  return std::bit_cast<double>(read_integer<std::int64_t>(bytes));
}

void PostgresType<PostgresUuid>::encode(std::string& out, const PostgresUuid& value) {
  for (const auto byte : value) out.push_back(static_cast<char>(byte));
}

PostgresUuid PostgresType<PostgresUuid>::decode(std::string_view bytes) {
  PostgresUuid value;
  expect_size(bytes, value.size());
  std::memcpy(value.data(), bytes.data(), value.size());
  return value;
}

/// What would wrap around is no time of PostgreSQL's anyway, and becomes -infinity.
void PostgresType<PostgresTime>::encode(std::string& out, PostgresTime value) {
  auto count = INT64_MIN;
  if (value == PostgresTime::max()) {
    count = INT64_MAX;
  } else if (value > PostgresTime::min() + epoch.time_since_epoch()) {
    count = (value - epoch).count();
  }
  append_integer<std::int64_t>(out, count);
}

PostgresTime PostgresType<PostgresTime>::decode(std::string_view bytes) {
  const std::chrono::microseconds since(read_integer<std::int64_t>(bytes));
  if (since.count() == INT64_MIN) return PostgresTime::min();
  if (since >= PostgresTime::max() - epoch) return PostgresTime::max();
  return epoch + since;
}

}  // namespace heistd
