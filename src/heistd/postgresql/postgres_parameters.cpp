#include <heistd/postgresql/postgres_parameters.hpp>

namespace heistd {

std::optional<std::string_view> PostgresParameters::operator[](std::size_t index) const {
  const auto& place = places_.at(index);
  if (!place.size) return std::nullopt;
  return std::string_view(bytes_).substr(place.begin, *place.size);
}

void PostgresParameters::begin(Oid type) {
  types_.push_back(type);
  places_.push_back({bytes_.size(), std::nullopt});
}

/// An empty array has no dimension.
void PostgresParameters::begin_array(Oid element, std::size_t size, bool has_nulls) {
  append_integer<std::int32_t>(bytes_, size > 0 ? 1 : 0);
  append_integer<std::int32_t>(bytes_, has_nulls ? 1 : 0);
  append_integer(bytes_, static_cast<std::int32_t>(element));
  if (size == 0) return;
  append_integer(bytes_, static_cast<std::int32_t>(size));
  append_integer<std::int32_t>(bytes_, 1);  // the first index
}

}  // namespace heistd
