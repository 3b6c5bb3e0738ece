#include <algorithm>
#include <heistd/journal/encoded_parameters.hpp>
#include <heistd/postgresql/postgres_jobs.hpp>
#include <stdexcept>
#include <utility>

namespace heistd {
namespace {

using Bytes = PostgresBytes;
using Milliseconds = std::chrono::milliseconds;

std::optional<std::int64_t> count_of(std::optional<Milliseconds> time) noexcept {
  if (!time) return std::nullopt;
  return time->count();
}

/// One that is no id, of which there is no job, for a text that is none.
std::optional<PostgresUuid> uuid_of_predecessor(const NewJob& job) noexcept {
  if (job.after.empty()) return std::nullopt;
  return uuid_of(job.after).value_or(PostgresUuid());
}

/// The columns of a row, one after the other.
class Fields {
 public:
  Fields(const PostgresRows& rows, std::size_t row, std::size_t column) noexcept
      : rows_(rows), row_(row), column_(column) {}
  template <class T>
  T get() {
    return rows_.get<T>(row_, column_++);
  }
  std::string text() {
    const auto bytes = get<std::optional<Bytes>>();
    return bytes ? std::string(bytes->bytes) : std::string();
  }

 private:
  const PostgresRows& rows_;
  std::size_t row_;
  std::size_t column_;
};

JobParameters read_parameters(Fields& fields) {
  auto parameters = decode_parameters(fields.text());
  if (!parameters) throw std::logic_error("a job's parameters cannot be read");
  return *std::move(parameters);
}

Milliseconds time_left(SystemTime time, SystemTime now) noexcept {
  return std::max(std::chrono::ceil<Milliseconds>(time - now), Milliseconds(0));
}

/// What of a job changes until its end.
void read_standing(Fields& fields, StoredJob& job) {
  job.follows = fields.get<bool>();
  job.attempt = static_cast<Attempt>(fields.get<std::int32_t>());
  job.forgiven = static_cast<Attempt>(fields.get<std::int32_t>());
  job.max_attempts = static_cast<Attempt>(fields.get<std::int32_t>());
  job.state = static_cast<StoredState>(fields.get<std::int16_t>());
}

void read_key(Fields& fields, StoredJob& job) {
  const auto key = fields.get<std::optional<Bytes>>();
  auto digest = fields.text();
  if (key) job.key = {std::string(key->bytes), std::move(digest)};
}

void read_end(Fields& fields, StoredJob& job) {
  job.payload_bytes = static_cast<std::uint64_t>(fields.get<std::int64_t>());
  job.result_description = fields.text();
  job.result_bytes = static_cast<std::uint64_t>(fields.get<std::int64_t>());
  const auto code = fields.get<std::optional<Bytes>>();
  auto message = fields.text();
  if (code) job.error = {std::string(code->bytes), std::move(message)};
  job.ended_at = fields.get<std::optional<PostgresTime>>();
}

}  // namespace

std::optional<PostgresBytes> bytes_unless_empty(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  return PostgresBytes{text};
}

std::string joined(const SharedBlocks& blocks) {
  std::string bytes;
  if (!blocks) return bytes;
  bytes.reserve(byte_count(*blocks));
  for (const auto& block : *blocks) bytes += block;
  return bytes;
}

std::int16_t number_of(heist::TaskPriority priority) noexcept {
  return static_cast<std::int16_t>(priority);
}

PostgresCall submit_call(const std::vector<const NewJob*>& jobs, bool again,
                         std::optional<SystemTime> clock) {
  static constexpr PostgresStatement statement = {
      "submit_all",
      "SELECT * FROM submit_all($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
      "$16, $17, $18)"};
  const auto all = [&jobs](auto value_of) {
    std::vector<decltype(value_of(*jobs.front()))> values;
    values.reserve(jobs.size());
    for (const auto* const job : jobs) values.push_back(value_of(*job));
    return values;
  };
  const auto texts = [&all](auto value_of) {
    return all([&value_of](const NewJob& job) { return bytes_of(value_of(job)); });
  };
  PostgresCall call{statement};
  call.parameters.add(all([](const NewJob& job) { return *uuid_of(job.id); }))
      .add(texts([](const NewJob& job) -> const auto& { return job.client; }))
      .add(texts([](const NewJob& job) -> const auto& { return job.kind; }));
  const auto parameters = all([](const NewJob& job) { return encode(job.parameters); });
  std::vector<Bytes> encoded(parameters.begin(), parameters.end());
  call.parameters.add(encoded)
      .add(all([](const NewJob& job) { return bytes_unless_empty(job.signal_name); }))
      .add(all([](const NewJob& job) {
        return job.priority ? std::optional(number_of(*job.priority)) : std::nullopt;
      }))
      .add(all([](const NewJob& job) { return number_of(job.signal_priority); }))
      .add(all([](const NewJob& job) { return std::int64_t{job.delay.count()}; }))
      .add(all([](const NewJob& job) { return count_of(job.ttl); }))
      .add(all([](const NewJob& job) { return count_of(job.timeout); }))
      .add(all([](const NewJob& job) { return uuid_of_predecessor(job); }))
      .add(all([](const NewJob& job) { return static_cast<std::int32_t>(job.max_attempts); }))
      .add(all([](const NewJob& job) { return bytes_unless_empty(job.request_id); }))
      .add(all([](const NewJob& job) {
        return job.key ? std::optional(bytes_of(job.key->key)) : std::nullopt;
      }))
      .add(all([](const NewJob& job) {
        return job.key ? std::optional(bytes_of(job.key->digest)) : std::nullopt;
      }));
  const auto payloads = all([](const NewJob& job) { return joined(job.payload); });
  std::vector<std::optional<Bytes>> given;
  for (const auto& payload : payloads) given.push_back(bytes_unless_empty(payload));
  call.parameters.add(given).add(again).add(clock);
  return call;
}

JobJournal::Submitted read_submitted(const PostgresRows& rows, std::size_t row) {
  JobJournal::Submitted submitted;
  submitted.acceptance = static_cast<JobJournal::Acceptance>(rows.get<std::int16_t>(row, 0));
  const auto id = rows.get<std::optional<PostgresUuid>>(row, 1);
  if (id) submitted.id = id_of_uuid(*id);
  submitted.follows = rows.get<bool>(row, 2);
  return submitted;
}

StoredJob read_stored_job(const PostgresRows& rows, std::size_t row, std::size_t column,
                          SystemTime now) {
  Fields fields(rows, row, column);
  StoredJob job;
  job.order = static_cast<AcceptanceOrder>(fields.get<std::int64_t>());
  job.id = id_of_uuid(fields.get<PostgresUuid>());
  job.client = fields.text();
  job.kind = fields.text();
  job.parameters = read_parameters(fields);
  job.signal_name = fields.text();
  const auto priority = fields.get<std::optional<std::int16_t>>();
  if (priority) job.priority = static_cast<heist::TaskPriority>(*priority);
  const auto may_start = fields.get<std::optional<PostgresTime>>();
  if (may_start) job.delay = time_left(*may_start, now);
  const auto expires_at = fields.get<std::optional<PostgresTime>>();
  if (expires_at) job.ttl = time_left(*expires_at, now);
  const auto timeout = fields.get<std::optional<std::int64_t>>();
  if (timeout) job.timeout = Milliseconds(*timeout);
  const auto after = fields.get<std::optional<PostgresUuid>>();
  if (after) job.after = id_of_uuid(*after);
  read_standing(fields, job);
  job.request_id = fields.text();
  read_key(fields, job);
  read_end(fields, job);
  return job;
}

}  // namespace heistd
