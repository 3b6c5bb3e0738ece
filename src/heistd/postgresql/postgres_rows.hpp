// PostgresRows: what a call has answered.
#pragma once

#include <libpq-fe.h>

#include <heistd/postgresql/postgres_parameters.hpp>
#include <memory>

namespace heistd {

/// The rows of an answer. Texts and bytes are views into them.
///
/// Thread: one at a time.   Errors: std::logic_error for a row or column that is not there, a type
/// that is not the column's, and a null where a value is asked for.
class PostgresRows {
 public:
  PostgresRows() = default;
  /// Takes over the result, which is in the binary format.
  explicit PostgresRows(::PGresult* result) noexcept : result_(result) {}

  [[nodiscard]] std::size_t size() const noexcept {
    return static_cast<std::size_t>(::PQntuples(result_.get()));
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// How many rows the call has inserted, updated, deleted or given.
  [[nodiscard]] std::size_t affected() const;

  /// A field: a value, a value that may be null (a std::optional), or an array of them (a
  /// std::vector).
  template <class T>
  [[nodiscard]] T get(std::size_t row, std::size_t column) const {
    return Reader<T>::get(*this, row, column);
  }

 private:
  struct Clear {
    void operator()(::PGresult* result) const noexcept { ::PQclear(result); }
  };
  template <class T>
  struct Reader;
  /// Takes an array apart.
  class Elements {
   public:
    Elements(std::string_view bytes, Oid type);
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Nothing for a null.
    [[nodiscard]] std::optional<std::string_view> next();

   private:
    std::string_view take(std::size_t bytes);
    std::int32_t number() { return read_integer<std::int32_t>(take(sizeof(std::int32_t))); }

    std::string_view rest_;
    std::size_t size_ = 0;
  };

  [[nodiscard]] std::optional<std::string_view> field(std::size_t row, std::size_t column,
                                                      Oid type) const;
  [[nodiscard]] static std::string_view not_null(std::optional<std::string_view> field);

  std::unique_ptr<::PGresult, Clear> result_;
};

template <class T>
struct PostgresRows::Reader {
  using Type = PostgresType<T>;
  static T get(const PostgresRows& rows, std::size_t row, std::size_t column) {
    return element(rows.field(row, column, Type::oid));
  }
  static T element(std::optional<std::string_view> bytes) { return Type::decode(not_null(bytes)); }
};

template <class T>
struct PostgresRows::Reader<std::optional<T>> {
  using Type = PostgresType<T>;
  static std::optional<T> get(const PostgresRows& rows, std::size_t row, std::size_t column) {
    return element(rows.field(row, column, Type::oid));
  }
  static std::optional<T> element(std::optional<std::string_view> bytes) {
    if (!bytes) return std::nullopt;
    return Type::decode(*bytes);
  }
};

template <class T>
struct PostgresRows::Reader<std::vector<T>> {
  static std::vector<T> get(const PostgresRows& rows, std::size_t row, std::size_t column) {
    using Type = typename Reader<T>::Type;
    Elements elements(not_null(rows.field(row, column, Type::array_oid)), Type::oid);
    std::vector<T> values;
    values.reserve(elements.size());
    while (values.size() < elements.size()) values.push_back(Reader<T>::element(elements.next()));
    return values;
  }
};

}  // namespace heistd
