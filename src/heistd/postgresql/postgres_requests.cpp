#include <algorithm>
#include <exception>
#include <heistd/postgresql/postgres_requests.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace heistd {
namespace {

using Submission = PostgresRequests::Submission;
using Completion = PostgresRequests::Completion;

std::vector<const NewJob*> jobs_of(const std::vector<Submission>& submissions) {
  std::vector<const NewJob*> jobs;
  for (const auto& submission : submissions) {
    for (const auto& job : submission.jobs) jobs.push_back(&job);
  }
  return jobs;
}

PostgresCall complete_call(const std::vector<Completion>& completions, bool again,
                           std::optional<SystemTime> clock) {
  static constexpr PostgresStatement statement = {"complete",
                                                  "SELECT complete($1, $2, $3, $4, $5, $6, $7)"};
  std::vector<PostgresDate> days;
  std::vector<std::int64_t> places;
  std::vector<std::int32_t> attempts;
  std::vector<PostgresBytes> descriptions;
  std::vector<std::string> bytes;
  for (const auto& completion : completions) {
    days.push_back(completion.job.day);
    places.push_back(completion.job.place);
    attempts.push_back(static_cast<std::int32_t>(completion.job.attempt));
    descriptions.push_back(bytes_of(completion.result.description));
    bytes.push_back(joined(completion.result.bytes));
  }
  std::vector<std::optional<PostgresBytes>> results;
  for (const auto& one : bytes) results.push_back(bytes_unless_empty(one));
  PostgresCall call{statement};
  call.parameters.add(days).add(places).add(attempts).add(descriptions).add(results);
  call.parameters.add(again).add(clock);
  return call;
}

/// Reads all before anybody is told.   Errors: std::logic_error, and nobody was told then.
void answer_each(std::vector<Submission>& submissions, const PostgresRows& rows) {
  std::size_t row = 0;
  std::vector<std::vector<JobJournal::Submitted>> all;
  for (const auto& submission : submissions) {
    auto& submitted = all.emplace_back();
    while (submitted.size() < submission.jobs.size()) {
      submitted.push_back(read_submitted(rows, row++));
    }
  }
  for (std::size_t place = 0; place < all.size(); ++place) {
    submissions[place].done(std::move(all[place]));
  }
}

void answer_each(std::vector<Completion>& completions, const PostgresRows& rows) {
  const auto effects = rows.get<std::vector<bool>>(0, 0);
  if (effects.size() != completions.size()) {
    throw std::logic_error("an answer of PostgreSQL has " + std::to_string(effects.size()) +
                           " effects of " + std::to_string(completions.size()) + " ends");
  }
  for (std::size_t place = 0; place < effects.size(); ++place) {
    completions[place].done(bool{effects[place]});
  }
}

std::size_t payload_bytes(const Submission& submission) {
  std::size_t bytes = 0;
  for (const auto& job : submission.jobs) {
    if (job.payload) bytes += byte_count(*job.payload);
  }
  return bytes;
}

/// Who cannot be answered, mostly as there is no memory for that, hears that there is no answer.
template <class Step>
void try_to(Step step) noexcept {
  try {
    step();
  } catch (const std::exception&) {
    return;
  }
}

/// How often a request is made of which the answers are lost.
constexpr unsigned most_losses = 3;

}  // namespace

void PostgresRequests::ask(Submission submission) {
  if (is_full()) return submission.done(too_many_waiting());
  auto& step = open_step(submission.jobs.size(), payload_bytes(submission));
  step.submissions.push_back(std::move(submission));
  go_on();
}

void PostgresRequests::ask(Completion completion) {
  if (is_full()) return completion.done(too_many_waiting());
  const auto& bytes = completion.result.bytes;
  auto& step = open_step(1, bytes ? byte_count(*bytes) : 0);
  step.completions.push_back(std::move(completion));
  go_on();
}

void PostgresRequests::ask(Other other) {
  if (is_full()) return other.done(too_many_waiting());
  auto& step = waiting_.emplace_back();
  step.other = std::move(other);
  step.size = 1;
  ++waiting_size_;
  go_on();
}

PostgresError PostgresRequests::too_many_waiting() const {
  return {PostgresFault::too_many_waiting,
          {},
          std::to_string(waiting_size_) + " requests; try again later"};
}

/// One that has room for these.
PostgresRequests::Step& PostgresRequests::open_step(std::size_t size, std::size_t bytes) {
  const bool has_room = !waiting_.empty() && !waiting_.back().other &&
                        waiting_.back().size + size <= limits_.max_batch &&
                        waiting_.back().bytes + bytes <= limits_.max_batch_bytes;
  auto& step = has_room ? waiting_.back() : waiting_.emplace_back();
  step.size += size;
  step.bytes += bytes;
  waiting_size_ += size;
  return step;
}

void PostgresRequests::go_on() {
  while (!is_closed_ && under_way_ == 0 && !waiting_.empty()) {
    auto steps = std::exchange(waiting_, {});
    waiting_size_ = 0;
    // So that what is refused at once does not come here again.
    under_way([this, &steps] {
      for (auto& step : steps) send(std::move(step));
      return false;
    });
  }
}

/// Counts what is asked for; not any more once `ask` has said that there is no answer to come, or
/// has thrown.
template <class Ask>
void PostgresRequests::under_way(Ask ask) {
  ++under_way_;
  try {
    if (!ask()) --under_way_;
  } catch (...) {
    --under_way_;
    throw;
  }
}

void PostgresRequests::send(Step step) {
  if (!step.submissions.empty()) send(std::move(step.submissions), step.losses);
  if (!step.completions.empty()) send(std::move(step.completions), step.losses);
  if (step.other) send(std::move(*step.other), step.losses);
}

void PostgresRequests::send(std::vector<Submission> submissions, unsigned losses) {
  auto call = submit_call(jobs_of(submissions), losses > 0, clock_());
  ask(std::move(call), {.submissions = std::move(submissions), .losses = losses},
      [](Step& asked, PostgresRows& rows) { answer_each(asked.submissions, rows); });
}

void PostgresRequests::send(std::vector<Completion> completions, unsigned losses) {
  const bool was_asked = std::ranges::any_of(
      completions, [](const auto& completion) { return completion.job.is_ending; });
  auto call = complete_call(completions, losses > 0 || was_asked, clock_());
  ask(std::move(call), {.completions = std::move(completions), .losses = losses},
      [](Step& asked, PostgresRows& rows) { answer_each(asked.completions, rows); });
}

void PostgresRequests::send(Other other, unsigned losses) {
  auto call = other.call(losses > 0);
  ask(std::move(call), {.other = std::move(other), .losses = losses},
      [](Step& asked, PostgresRows& rows) { asked.other->done(std::move(rows)); });
}

template <class Answer>
void PostgresRequests::ask(PostgresCall call, Step step, Answer answer) {
  const bool is_again = step.losses > 0;
  auto done = [this, shared = std::make_shared<Step>(std::move(step)),
               answer](PostgresResult result) {
    --under_way_;
    try_to([&] {
      result ? tell(*shared, *result, answer)
             : send_again_or_refuse(std::move(*shared), result.error());
    });
    try_to([this] { go_on(); });
  };
  under_way([&] {
    is_again ? session_.ask_again(std::move(call), std::move(done))
             : session_.ask(std::move(call), std::move(done));
    return true;
  });
}

template <class Answer>
void PostgresRequests::tell(Step& asked, PostgresRows& rows, const Answer& answer) {
  try {
    answer(asked, rows);
  } catch (const std::logic_error& error) {  // the schema is another one
    refuse(asked, {PostgresFault::unreadable, {}, error.what()});
  }
}

void PostgresRequests::send_again_or_refuse(Step step, PostgresError error) {
  if (error.fault == PostgresFault::outcome_unknown) ++step.losses;
  const bool may_be_sent = step.losses > 0 && step.losses < most_losses && !is_closed_;
  if (may_be_sent && error.fault == PostgresFault::outcome_unknown) return send(std::move(step));
  if (step.losses > 0) error.fault = PostgresFault::outcome_unknown;
  refuse(step, error);
}

PostgresRequests::~PostgresRequests() {
  const PostgresError not_sent{PostgresFault::no_connection, {}, "the server ends"};
  for (auto& step : waiting_) refuse(step, not_sent);
}

void PostgresRequests::refuse(Step& step, const PostgresError& error) noexcept {
  for (auto& submission : step.submissions) submission.done(error);
  for (auto& completion : step.completions) completion.done(error);
  if (step.other) step.other->done(error);
}

}  // namespace heistd
