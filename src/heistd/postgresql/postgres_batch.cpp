#include <heistd/postgresql/postgres_batch.hpp>

namespace heistd {
namespace {

/// So much is given to libpq before the socket has to take it: libpq keeps the memory of what it
/// could not send yet as long as the connection lasts.
constexpr std::size_t unflushed_limit = std::size_t{64} << 10U;
constexpr int binary = 1;

std::string text_of(const ::PGresult* result, int what) {
  const char* const text = ::PQresultErrorField(result, what);
  return text == nullptr ? "" : text;
}

}  // namespace

/// After an error the server skips what comes: then nothing but the end is sent.
PostgresBatch::Sent PostgresBatch::send() {
  while (sent_ < calls_.size() && !outcome_.error) {
    const auto& call = *calls_[sent_];
    if (!prepare(call) || !send(call)) return Sent::failed;
    ++sent_;
    if (unflushed_ < unflushed_limit) continue;
    if (const auto flushed = flush(); flushed != Sent::all) return flushed;
  }
  if (!is_closed_ && ::PQpipelineSync(&connection_) == 0) return Sent::failed;
  is_closed_ = true;
  return flush();
}

/// The types are named, so that the server never guesses one for which the bytes mean something
/// else.
bool PostgresBatch::prepare(const PostgresCall& call) {
  if (statements_.contains(call.statement.name)) return true;
  statements_.emplace(call.statement.name);
  expected_.push_back({sent_, true});
  const auto& types = call.parameters.types();
  return ::PQsendPrepare(&connection_, call.statement.name, call.statement.text,
                         static_cast<int>(types.size()), types.data()) != 0;
}

bool PostgresBatch::send(const PostgresCall& call) {
  const auto count = call.parameters.types().size();
  std::vector<const char*> values(count, nullptr);
  std::vector<int> sizes(count, 0);
  const std::vector<int> formats(count, binary);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = call.parameters[i];
    if (!value) continue;
    values[i] = value->data();
    sizes[i] = static_cast<int>(value->size());
  }
  expected_.push_back({sent_, false});
  unflushed_ += call.parameters.bytes() + 16 * (count + 4);
  return ::PQsendQueryPrepared(&connection_, call.statement.name, static_cast<int>(count),
                               values.data(), sizes.data(), formats.data(), binary) != 0;
}

PostgresBatch::Sent PostgresBatch::flush() {
  const int left = ::PQflush(&connection_);
  if (left < 0) return Sent::failed;
  if (left > 0) return Sent::blocked;
  unflushed_ = 0;
  return Sent::all;
}

/// Nothing where a result should be ends the results of a call.
PostgresBatch::Received PostgresBatch::receive() {
  while (!has_ended_ && ::PQisBusy(&connection_) == 0) {
    auto* const result = ::PQgetResult(&connection_);
    if (result != nullptr) {
      if (!take(result)) return Received::failed;
    } else if (has_result_) {
      has_result_ = false;
      ++received_;
    } else {
      break;
    }
  }
  if (has_ended_) return Received::all;
  return ::PQstatus(&connection_) == CONNECTION_OK ? Received::some : Received::failed;
}

bool PostgresBatch::take(::PGresult* result) {
  PostgresRows rows(result);
  has_result_ = true;
  switch (::PQresultStatus(result)) {
    case PGRES_PIPELINE_SYNC:
      has_ended_ = true;
      return outcome_.error || outcome_.rows.size() == calls_.size();
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
      if (received_ >= expected_.size()) return false;
      if (!expected_[received_].is_preparation) outcome_.rows.push_back(std::move(rows));
      return true;
    case PGRES_PIPELINE_ABORTED:
    case PGRES_FATAL_ERROR:
      fail(result);
      return !outcome_.error->sqlstate.empty();
    default:
      return false;  // such as COPY
  }
}

/// An error that the server has not said is libpq's: nobody knows what became of the transaction.
void PostgresBatch::fail(const ::PGresult* result) {
  const bool is_of_call = received_ < expected_.size();
  if (is_of_call && expected_[received_].is_preparation) {
    statements_.erase(calls_[expected_[received_].call]->statement.name);
  }
  if (outcome_.error) return;
  outcome_.failed = is_of_call ? expected_[received_].call : calls_.size();
  outcome_.error = {.sqlstate = text_of(result, PG_DIAG_SQLSTATE),
                    .message = text_of(result, PG_DIAG_MESSAGE_PRIMARY)};
  if (outcome_.error->message.empty()) outcome_.error->message = ::PQresultErrorMessage(result);
}

}  // namespace heistd
