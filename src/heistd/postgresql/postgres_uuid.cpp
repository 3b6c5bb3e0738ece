#include <charconv>
#include <heistd/postgresql/postgres_uuid.hpp>

namespace heistd {

std::optional<PostgresUuid> uuid_of(std::string_view id) noexcept {
  if (!is_job_id(id)) return std::nullopt;
  PostgresUuid uuid{};
  for (auto& byte : uuid) {
    unsigned value = 0;
    std::from_chars(id.data(), id.data() + 2, value, 16);
    byte = static_cast<std::byte>(value);
    id.remove_prefix(2);
  }
  return uuid;
}

JobId id_of_uuid(const PostgresUuid& uuid) {
  constexpr std::string_view digits = "0123456789abcdef";
  JobId id;
  id.reserve(2 * uuid.size());
  for (const auto byte : uuid) {
    const auto value = std::to_integer<unsigned>(byte);
    id += digits[value >> 4U];
    id += digits[value & 0xFU];
  }
  return id;
}

}  // namespace heistd
