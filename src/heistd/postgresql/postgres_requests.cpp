#include <algorithm>
#include <heistd/postgresql/postgres_requests.hpp>
#include <iterator>
#include <memory>
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

void answer_each(std::vector<Submission>& submissions, const PostgresRows& rows) {
  std::size_t row = 0;
  for (auto& submission : submissions) {
    std::vector<JobJournal::Submitted> submitted;
    for (std::size_t left = submission.jobs.size(); left > 0; --left) {
      submitted.push_back(read_submitted(rows, row++));
    }
    submission.done(std::move(submitted));
  }
}

void answer_each(std::vector<Completion>& completions, const PostgresRows& rows) {
  const auto effects = rows.get<std::vector<bool>>(0, 0);
  for (std::size_t place = 0; place < completions.size(); ++place) {
    completions[place].done(bool{effects.at(place)});
  }
}

}  // namespace

void PostgresRequests::ask(Submission submission) {
  open_step().submissions.push_back(std::move(submission));
  go_on();
}

void PostgresRequests::ask(Completion completion) {
  open_step().completions.push_back(std::move(completion));
  go_on();
}

void PostgresRequests::ask(Other other) {
  waiting_.emplace_back().other = std::move(other);
  go_on();
}

/// One that others may join.
PostgresRequests::Step& PostgresRequests::open_step() {
  if (waiting_.empty() || waiting_.back().other) waiting_.emplace_back();
  return waiting_.back();
}

void PostgresRequests::go_on() {
  while (!is_closed_ && under_way_ == 0 && !(unknown_.empty() && waiting_.empty())) {
    std::deque<Step> steps = std::exchange(unknown_, {});
    std::ranges::move(waiting_, std::back_inserter(steps));
    waiting_.clear();
    ++under_way_;  // so that what is refused at once does not come here again
    for (auto& step : steps) send(std::move(step));
    --under_way_;
  }
}

void PostgresRequests::send(Step step) {
  if (!step.submissions.empty()) send(std::move(step.submissions), step.is_again);
  if (!step.completions.empty()) send(std::move(step.completions), step.is_again);
  if (step.other) send(std::move(*step.other), step.is_again);
}

void PostgresRequests::send(std::vector<Submission> submissions, bool again) {
  auto call = submit_call(jobs_of(submissions), again, clock_());
  Step step;
  step.submissions = std::move(submissions);
  ask(std::move(call), std::move(step),
      [](Step& asked, const PostgresRows& rows) { answer_each(asked.submissions, rows); });
}

void PostgresRequests::send(std::vector<Completion> completions, bool again) {
  const bool was_asked = std::ranges::any_of(
      completions, [](const auto& completion) { return completion.job.is_ending; });
  auto call = complete_call(completions, again || was_asked, clock_());
  Step step;
  step.completions = std::move(completions);
  ask(std::move(call), std::move(step),
      [](Step& asked, const PostgresRows& rows) { answer_each(asked.completions, rows); });
}

void PostgresRequests::send(Other other, bool again) {
  auto call = other.call(again);
  ++under_way_;
  auto shared = std::make_shared<Other>(std::move(other));
  session_.ask(std::move(call), [this, shared](PostgresResult result) {
    --under_way_;
    if (!result && result.error().fault == PostgresFault::outcome_unknown) {
      auto& step = unknown_.emplace_back();
      step.other = std::move(*shared);
      step.is_again = true;
    } else {
      shared->done(std::move(result));
    }
    go_on();
  });
}

template <class Answer>
void PostgresRequests::ask(PostgresCall call, Step step, Answer answer) {
  ++under_way_;
  auto shared = std::make_shared<Step>(std::move(step));
  session_.ask(std::move(call), [this, shared, answer](PostgresResult result) {
    --under_way_;
    if (result) {
      answer(*shared, *result);
    } else if (result.error().fault == PostgresFault::outcome_unknown) {
      shared->is_again = true;
      unknown_.push_back(std::move(*shared));
    } else {
      refuse(*shared, result.error());
    }
    go_on();
  });
}

PostgresRequests::~PostgresRequests() {
  const PostgresError unknown{PostgresFault::outcome_unknown, {}, "the server ends"};
  for (auto& step : unknown_) refuse(step, unknown);
  const PostgresError not_sent{PostgresFault::no_connection, {}, "the server ends"};
  for (auto& step : waiting_) refuse(step, not_sent);
}

void PostgresRequests::refuse(Step& step, const PostgresError& error) noexcept {
  for (auto& submission : step.submissions) submission.done(error);
  for (auto& completion : step.completions) completion.done(error);
  if (step.other) step.other->done(error);
}

}  // namespace heistd
