// Commands about many jobs, and about the server.
#include <unistd.h>

#include <heistctl/commands.hpp>
#include <heistctl/render.hpp>
#include <heistctl/status_line.hpp>
#include <heistctl/target.hpp>

namespace heistctl {
namespace {

std::string page_target(const Options& options, const std::string& cursor) {
  Target target("/jobs");
  target.parameter("limit", "100");
  for (const auto& [name, value] : options.parameters) target.parameter(name, value);
  if (!cursor.empty()) target.parameter("cursor", cursor);
  return target.text();
}

}  // namespace

ExitCode list(Client& client, const Options& options) {
  const bool is_for_people = isatty(STDOUT_FILENO) == 1;
  if (is_for_people && !options.as_json) write_all(STDOUT_FILENO, list_head());
  std::string cursor;
  do {
    const auto page = parse_page(client.ask({.target = page_target(options, cursor)}).body);
    std::string text;
    for (const auto& job : page.jobs) {
      text += options.as_json ? job.json + '\n' : list_line(job, is_for_people);
    }
    write_all(STDOUT_FILENO, text);
    cursor = page.cursor;
  } while (!cursor.empty());
  return ExitCode::done;
}

ExitCode change_signal(Client& client, const Options& options) {
  Target target("/signals");
  target.part(options.signal);
  if (options.aborts_signal) {
    const auto answer = client.ask({.method = "DELETE", .target = target.text()});
    write_all(STDOUT_FILENO, options.signal + ": aborted " +
                                 parse_member(answer.body, "aborted_jobs") + " jobs\n");
    return ExitCode::done;
  }
  target.parameter("priority", options.priority);
  const auto answer = client.ask({.method = "PUT", .target = target.text()});
  write_all(STDOUT_FILENO, options.signal + ": " + options.priority + ", " +
                               parse_member(answer.body, "unfinished_jobs") + " unfinished jobs\n");
  return ExitCode::done;
}

ExitCode set_pause(Client& client, const Options& options) {
  const bool on = options.command == Command::pause;
  Target target("/" + options.paused + "s");
  target.part(options.paused_name).part(on ? "pause" : "resume");
  client.ask({.method = "POST", .target = target.text()});
  write_all(STDOUT_FILENO, options.paused_name + (on ? ": paused\n" : ": resumed\n"));
  return ExitCode::done;
}

ExitCode health(Client& client, const Options& /*options*/) {
  const auto answer = client.ask({.target = "/readyz"});
  if (parse_member(answer.body, "status") != "ok") {
    throw Failure(ExitCode::unreachable, client.address().text + " is not heistd");
  }
  write_all(STDOUT_FILENO, client.address().text + " takes jobs\n");
  return ExitCode::done;
}

}  // namespace heistctl
