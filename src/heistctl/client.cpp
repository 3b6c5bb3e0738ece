#include <unistd.h>

#include <array>
#include <heistctl/answers.hpp>
#include <heistctl/client.hpp>
#include <heistctl/failure.hpp>
#include <heistctl/interrupt.hpp>
#include <heistctl/render.hpp>
#include <heistctl/status_line.hpp>
#include <utility>

namespace heistctl {
namespace {

bool is_busy(const Response& response) noexcept {
  return response.status == 429 || response.status == 503;
}

/// What to do, where the server's message does not say it.
std::string_view advice_for(std::string_view reason) {
  using Advice = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Advice, 5> all{{
      {"unauthorized", " --token-file or HEIST_TOKEN has the token that the server asks for."},
      {"bad_host", " The server's option --host adds the name by which it was asked."},
      {"not_operator", " --token-file or HEIST_TOKEN may have the token of that client."},
      {"queue_full", " --retry-for waits longer for room."},
      {"no_journal", " The server keeps jobs, and knows repeated ones, with its option --data."},
  }};
  for (const auto& [code, advice] : all) {
    if (code == reason) return advice;
  }
  return "";
}

Refused refused(const Address& address, const Request& request, const Response& response) {
  const auto refusal = parse_refusal(response.status, response.body);
  return {refusal.code, address.text + " refuses " + request.method + ' ' + request.target + ": " +
                            refusal_text(refusal) + std::string(advice_for(refusal.code))};
}

/// A result is in the reply to be taken, and in no other one.
Response checked(const Address& address, const Request& request, Response response) {
  if (request.sink == nullptr || response.status == 200) return response;
  throw Failure(ExitCode::unreachable, address.text + " answers " + request.method + ' ' +
                                           request.target + " by status " +
                                           std::to_string(response.status) +
                                           ", without a result: it is not heistd that answers");
}

/// What to do after a request that may have arrived.
std::string advice_for(const Request& request) {
  if (!request.is_repeatable()) return ". It may have been done: 'heistctl list' shows the jobs.";
  if (request.key.empty()) return ". Try again, or give it more time by --retry-for.";
  return ". The job may have been accepted: sent again with --idempotency-key " + request.key +
         ", it is one job.";
}

Failure unreachable(const Address& address, const Lost& lost, const Request& request) {
  if (lost.may_have_arrived) {
    return {ExitCode::unreachable, "lost " + address.text + " during " + request.method + ' ' +
                                       request.target + ": " + lost.why + advice_for(request)};
  }
  return {ExitCode::unreachable, "cannot reach " + address.text + ": " + lost.why +
                                     ". Does heistd run there? --server or HEIST_SERVER names "
                                     "another address."};
}

}  // namespace

Response Client::ask(const Request& request) {
  RetrySchedule schedule(RetrySchedule::Clock::now(), retry_for_);
  bool may_have_arrived = false;
  for (;;) {
    auto answer = http_.send(request);
    if (auto* const lost = std::get_if<Lost>(&answer)) {
      lost->may_have_arrived = may_have_arrived |= lost->may_have_arrived;
      wait_for(schedule, *lost, request);
      continue;
    }
    auto& response = std::get<Response>(answer);
    has_reached_ = true;
    if (response.status < 300) return checked(http_.address(), request, std::move(response));
    if (!is_busy(response)) throw refused(http_.address(), request, response);
    wait_for(schedule, response, request);
  }
}

void Client::wait_for(RetrySchedule& schedule, const Lost& lost, const Request& request) {
  has_reached_ |= lost.may_have_arrived;
  const bool may_repeat = has_reached_ && (!lost.may_have_arrived || request.is_repeatable());
  const auto pause =
      may_repeat ? schedule.next(RetrySchedule::Clock::now(), std::nullopt) : std::nullopt;
  if (!pause) throw unreachable(http_.address(), lost, request);
  say_once("no answer of " + http_.address().text + ": " + lost.why + '.');
  pause_for(*pause);
}

/// What was refused has had no effect.
void Client::wait_for(RetrySchedule& schedule, const Response& busy, const Request& request) {
  const auto pause = schedule.next(RetrySchedule::Clock::now(), busy.retry_after);
  if (!pause) throw refused(http_.address(), request, busy);
  say_once(refused(http_.address(), request, busy).what());
  pause_for(*pause);
}

void Client::say_once(const std::string& reason) {
  if (std::exchange(said_, reason) == reason) return;
  write_all(STDERR_FILENO,
            "heistctl: " + reason + " Trying again for " + duration_text(retry_for_) + ".\n");
}

}  // namespace heistctl
