// How a journal in PostgreSQL asks and answers: for its own sources.
#pragma once

#include <boost/asio/dispatch.hpp>
#include <heistd/postgresql/postgres_fault.hpp>
#include <heistd/postgresql/postgres_journal.hpp>
#include <heistd/postgresql/postgres_uuid.hpp>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace heistd {

[[nodiscard]] inline JobJournal::Effect effect_of(bool is_stored) noexcept {
  return is_stored ? JobJournal::Effect::stored : JobJournal::Effect::late;
}
[[nodiscard]] inline JobJournal::Effect read_effect(const PostgresRows& rows) {
  return effect_of(rows.get<bool>(0, 0));
}

/// That of no job for a text that is no id.
[[nodiscard]] inline PostgresUuid uuid_or_none(std::string_view id) noexcept {
  return uuid_of(id).value_or(PostgresUuid());
}

/// Gives a claimed job back.
[[nodiscard]] inline PostgresCall release_call(const PostgresUuid& id, Attempt attempt,
                                               bool was_started, bool again) {
  PostgresCall call{{"release", "SELECT release($1, $2, $3, $4)"}};
  call.parameters.add(id).add(static_cast<std::int32_t>(attempt)).add(was_started).add(again);
  return call;
}

/// How many pauses the database gets that come before another attempt; the last one stays.
inline constexpr Attempt known_pauses = 64;

/// What `read` makes of the answer, or why there is nothing. Nothing is thrown to the session.
template <class Result, class Read>
auto read_answer(Result& result, const Read& read)
    -> JournalResult<std::decay_t<decltype(read(*result))>> {
  try {
    if (result) return read(*result);
    return journal_error(result.error());
  } catch (const std::bad_alloc&) {
    return JournalError{JournalFault::out_of_memory, {}};
  } catch (const std::logic_error& error) {  // the schema is another one
    return JournalError{JournalFault::corrupt, error.what()};
  }
}

/// Settles a promise by what `read` makes of the answer.
template <class Resolver, class Read>
auto settle(std::shared_ptr<Resolver> resolver, Read read) {
  return [resolver = std::move(resolver), read = std::move(read)](auto result) {
    resolver->resolve(read_answer(result, read));
  };
}

/// Has `ask` called on the network's thread with a resolver, which it shares with its answers.
template <class T, class Ask>
JobJournal::Answer<T> PostgresJournal::answer(Ask ask) {
  auto answer = Answer<T>::with_resolver();
  auto resolver = std::make_shared<heist::Resolver<JournalResult<T>>>(std::move(answer.resolver));
  boost::asio::dispatch(network_, [ask = std::move(ask), resolver = std::move(resolver)]() mutable {
    ask(std::move(resolver));
  });
  return std::move(answer.promise);
}

/// `make` makes the call, for the first time or again.
template <class T, class Make, class Read>
JobJournal::Answer<T> PostgresJournal::write(Make make, Read read) {
  return answer<T>([this, make = std::move(make), read](auto resolver) mutable {
    requests_.ask(PostgresRequests::Other{std::move(make), settle(std::move(resolver), read)});
  });
}

template <class T, class Make, class Read>
JobJournal::Answer<T> PostgresJournal::read(Make make, Read read) {
  return answer<T>([this, make = std::move(make), read](auto resolver) {
    read_.ask(make(), settle(std::move(resolver), read));
  });
}

}  // namespace heistd
