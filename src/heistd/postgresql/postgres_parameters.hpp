// PostgresParameters: the values of a call.
#pragma once

#include <heistd/postgresql/postgres_types.hpp>
#include <optional>
#include <span>
#include <vector>

namespace heistd {

/// Values in PostgreSQL's binary format, in the order of $1, $2 and so on.
///
/// Errors: std::bad_alloc.   Cost: a copy of each value.   Lifetime: needs no value after it was
/// added.
class PostgresParameters {
 public:
  /// A value, a null (an empty std::optional), or an array of them (a std::vector).
  template <class... Values>
  explicit PostgresParameters(const Values&... values) {
    (add(values), ...);
  }

  template <class T>
  PostgresParameters& add(const T& value) {
    begin(PostgresType<PostgresValue<T>>::oid);
    PostgresType<PostgresValue<T>>::encode(bytes_, value);
    end();
    return *this;
  }
  template <class T>
  PostgresParameters& add(const std::optional<T>& value) {
    if (value) return add(*value);
    begin(PostgresType<PostgresValue<T>>::oid);
    return *this;
  }
  template <class T>
  PostgresParameters& add(const std::vector<T>& values);

  /// The numbers of their types.
  [[nodiscard]] const std::vector<Oid>& types() const noexcept { return types_; }
  /// What all of them have.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }
  /// Nothing: it is null.
  [[nodiscard]] std::optional<std::string_view> operator[](std::size_t index) const;

 private:
  struct Place {
    std::size_t begin = 0;
    std::optional<std::size_t> size;
  };

  void begin(Oid type);
  void end() noexcept { places_.back().size = bytes_.size() - places_.back().begin; }
  void begin_array(Oid element, std::size_t size, bool has_nulls);
  template <class T>
  void add_element(const T& value);
  template <class T>
  void add_element(const std::optional<T>& value);

  std::vector<Oid> types_;
  std::vector<Place> places_;
  std::string bytes_;
};

/// A value that may be null as an element of an array.
template <class T>
struct PostgresElement {
  using Type = PostgresType<PostgresValue<T>>;
  static constexpr bool is_nullable = false;
};
template <class T>
struct PostgresElement<std::optional<T>> {
  using Type = PostgresType<PostgresValue<T>>;
  static constexpr bool is_nullable = true;
};

template <class T>
PostgresParameters& PostgresParameters::add(const std::vector<T>& values) {
  using Element = PostgresElement<T>;
  begin(Element::Type::array_oid);
  begin_array(Element::Type::oid, values.size(), Element::is_nullable);
  for (const T& value : values) add_element(value);
  end();
  return *this;
}

template <class T>
void PostgresParameters::add_element(const T& value) {
  const auto place = bytes_.size();
  append_integer<std::int32_t>(bytes_, 0);
  PostgresType<PostgresValue<T>>::encode(bytes_, value);
  std::string size;
  append_integer(size, static_cast<std::int32_t>(bytes_.size() - place - sizeof(std::int32_t)));
  bytes_.replace(place, size.size(), size);
}

template <class T>
void PostgresParameters::add_element(const std::optional<T>& value) {
  if (value) return add_element(*value);
  append_integer<std::int32_t>(bytes_, -1);
}

}  // namespace heistd
