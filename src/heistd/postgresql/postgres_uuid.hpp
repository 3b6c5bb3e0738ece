// How ids of jobs are PostgreSQL's uuids.
#pragma once

#include <heistd/job_id.hpp>
#include <heistd/postgresql/postgres_types.hpp>
#include <optional>
#include <string_view>

namespace heistd {

/// Nothing for a text that is no id.
[[nodiscard]] std::optional<PostgresUuid> uuid_of(std::string_view id) noexcept;
[[nodiscard]] JobId id_of_uuid(const PostgresUuid& uuid);

}  // namespace heistd
