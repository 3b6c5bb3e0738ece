// The command that has the server finish its jobs and end.
#include <unistd.h>

#include <chrono>
#include <heistctl/commands.hpp>
#include <heistctl/interrupt.hpp>
#include <heistctl/status_line.hpp>

namespace heistctl {
namespace {

constexpr std::chrono::milliseconds pause{200};

std::string progress_of(const std::string& answer) {
  return "draining: " + parse_member(answer, "unfinished_jobs") + " unfinished jobs, for at most " +
         parse_member(answer, "left_ms") + " ms";
}

/// A server that does not drain has come after the one that did.
bool drains(const std::string& answer) { return parse_member(answer, "status") == "draining"; }

/// Shows what the server is at until it has ended.
void follow_drain(Client& client, std::string answer) {
  StatusLine status(STDERR_FILENO);
  try {
    while (drains(answer)) {
      status.show(progress_of(answer));
      pause_for(pause);
      answer = client.ask({.target = "/drain"}).body;
    }
  } catch (const Failure& failure) {
    if (failure.code() != ExitCode::unreachable) throw;
  }
}

}  // namespace

ExitCode drain(Client& client, const Options& /*options*/) {
  follow_drain(client, client.ask({.method = "POST", .target = "/drain"}).body);
  write_all(STDOUT_FILENO, client.address().text + " has ended\n");
  return ExitCode::done;
}

}  // namespace heistctl
