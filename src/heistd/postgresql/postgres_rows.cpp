#include <charconv>
#include <heistd/postgresql/postgres_rows.hpp>
#include <stdexcept>

namespace heistd {
namespace {

constexpr Oid varchar_oid = 1043;
constexpr Oid name_oid = 19;

/// All that is text is read as text.
bool is_read_as(Oid column, Oid type) noexcept {
  if (column == type) return true;
  return type == PostgresType<std::string_view>::oid &&
         (column == varchar_oid || column == name_oid);
}

[[noreturn]] void refuse(const std::string& what) {
  throw std::logic_error("an answer of PostgreSQL " + what);
}

}  // namespace

std::size_t PostgresRows::affected() const {
  std::size_t rows = 0;
  const std::string_view text = result_ ? ::PQcmdTuples(result_.get()) : "";
  std::from_chars(text.data(), text.data() + text.size(), rows);
  return rows;
}

std::optional<std::string_view> PostgresRows::field(std::size_t row, std::size_t column,
                                                    Oid type) const {
  const auto columns = static_cast<std::size_t>(::PQnfields(result_.get()));
  if (row >= size() || column >= columns) {
    refuse("has " + std::to_string(size()) + " rows and " + std::to_string(columns) +
           " columns; there is no row " + std::to_string(row) + " with a column " +
           std::to_string(column));
  }
  const int at_row = static_cast<int>(row);
  const int at_column = static_cast<int>(column);
  const auto has = ::PQftype(result_.get(), at_column);
  if (!is_read_as(has, type)) {
    refuse("has the column \"" + std::string(::PQfname(result_.get(), at_column)) + "\" of type " +
           std::to_string(has) + ", which is not read as type " + std::to_string(type));
  }
  if (::PQgetisnull(result_.get(), at_row, at_column) != 0) return std::nullopt;
  return std::string_view(
      ::PQgetvalue(result_.get(), at_row, at_column),
      static_cast<std::size_t>(::PQgetlength(result_.get(), at_row, at_column)));
}

std::string_view PostgresRows::not_null(std::optional<std::string_view> field) {
  if (!field) refuse("has a null, which is read as a value; std::optional reads it");
  return *field;
}

PostgresRows::Elements::Elements(std::string_view bytes, Oid type) : rest_(bytes) {
  const auto dimensions = number();
  static_cast<void>(number());  // whether there are nulls, which the elements say, too
  if (static_cast<Oid>(number()) != type) refuse("has an array of another type");
  if (dimensions == 0) return;
  if (dimensions != 1) refuse("has an array of more than one dimension");
  size_ = static_cast<std::size_t>(number());
  static_cast<void>(number());  // the first index
}

std::optional<std::string_view> PostgresRows::Elements::next() {
  const auto size = number();
  if (size < 0) return std::nullopt;
  return take(static_cast<std::size_t>(size));
}

std::string_view PostgresRows::Elements::take(std::size_t bytes) {
  if (bytes > rest_.size()) refuse("has an array that ends too early");
  const auto taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

}  // namespace heistd
