// How one step of the API comes to another: what several of its files use.
#pragma once

#include <heistd/api.hpp>
#include <heistd/job_keeper.hpp>
#include <heistd/replies.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace heistd {

template <class T>
Result<Api::Step> as_step(Result<T> result) {
  if (!result) return result.error();
  return std::move(*result);
}

/// What a reply or a refusal comes to, where there is nothing more to wait for.
inline Api::Outcome as_outcome(Result<Reply> result) {
  return result ? std::move(*result) : make_reply(result.error());
}

/// Why the journal has not accepted a job that is to start after another one, if that is why.
inline std::optional<Refusal> refusal_of(const JobJournal::Submitted& submitted,
                                         const JobId& after) {
  switch (submitted.acceptance) {
    case JobJournal::Acceptance::no_predecessor:
      return no_predecessor(after);
    case JobJournal::Acceptance::predecessor_failed:
      return predecessor_has_failed(after);
    default:
      return std::nullopt;
  }
}

inline Refusal journal_failed(const JournalError& error) {
  return unavailable("journal_failed", "the journal cannot do this: " + describe(error));
}

/// Goes on with what the journal has answered; when that is an error, it is the reply.
template <class T, class Then>
Storing Api::storing(const heist::Promise<JournalResult<T>>& answer, Then then) const {
  auto result = std::make_shared<JournalResult<T>>();
  auto answered = heist::Promise<void>::with_resolver();
  service_.keeper()->when(
      answer, [result, resolver = std::move(answered.resolver)](JournalResult<T> given) mutable {
        *result = std::move(given);
        resolver.resolve();
      });
  return {answered.promise, [result, then = std::move(then)]() -> Outcome {
            const auto given = std::move(*result);  // so that it is gone while the reply is sent
            if (given) return then(*given);
            return make_reply(journal_failed(given.error()));
          }};
}

/// Goes on with a job of the client's that only the journal has.
template <class Then>
Storing Api::find_stored(const JobId& id, Client& client, Then then) {
  return storing(service_.keeper()->journal().find(id),
                 [&client, then = std::move(then)](const std::optional<StoredJob>& job) -> Outcome {
                   if (job && job->client == client.name) return then(*job);
                   return make_reply(no_such_job());
                 });
}

}  // namespace heistd
