// Commands that ask one thing of each of some jobs.
#include <unistd.h>

#include <functional>
#include <heistctl/commands.hpp>
#include <heistctl/render.hpp>
#include <heistctl/result_file.hpp>
#include <heistctl/status_line.hpp>
#include <heistctl/target.hpp>
#include <iostream>

namespace heistctl {
namespace {

Job describe(Client& client, const std::string& id) {
  return parse_job(client.ask({.target = job_target(id).text()}).body);
}

Job change(Client& client, const std::string& method, const Target& target) {
  return parse_job(client.ask({.method = method, .target = target.text()}).body);
}

Job requeue_job(Client& client, const std::string& id) {
  return change(client, "POST", job_target(id).part("requeue"));
}

/// A DELETE of an unfinished job would abort it.
Job erase_job(Client& client, const std::string& id) {
  const auto job = describe(client, id);
  if (job.has_ended()) return change(client, "DELETE", job_target(id));
  throw Refused("unfinished",
                "the job " + id + " is " + job.state + "; 'heistctl abort " + id + "' ends it");
}

/// Does something to each job, and goes on with the others where it cannot be done.
ExitCode for_each_job(Client& client, const Options& options,
                      const std::function<Job(Client&, const std::string&)>& step) {
  auto code = ExitCode::done;
  for (const auto& id : options.ids) {
    try {
      write_all(STDOUT_FILENO, job_line(step(client, id)) + '\n');
    } catch (const Refused& refused) {
      code = refused.code();
      std::cerr << "heistctl: " << refused.what() << '\n';
    }
  }
  return code;
}

/// The answer of a request about all jobs that the options name.
std::string ask_for_all(Client& client, const Options& options, const std::string& method,
                        Target target) {
  for (const auto& [name, value] : options.parameters) target.parameter(name, value);
  return client.ask({.method = method, .target = target.text(), .may_take_long = true}).body;
}

ExitCode requeue_all(Client& client, const Options& options) {
  const auto body = ask_for_all(client, options, "POST", Target("/jobs").part("requeue"));
  write_all(STDOUT_FILENO, "queued again: " + parse_member(body, "requeued") + " jobs\n");
  if (parse_member(body, "refused") == "0") return ExitCode::done;
  std::cerr << "heistctl: " << parse_member(body, "refused")
            << " or more stay dead, the first one as " << refusal_text(parse_refusal(200, body))
            << '\n';
  return ExitCode::refused;
}

ExitCode erase_all(Client& client, const Options& options) {
  const auto body = ask_for_all(client, options, "DELETE", Target("/jobs"));
  write_all(STDOUT_FILENO, "forgotten: " + parse_member(body, "forgotten") + " jobs\n");
  return ExitCode::done;
}

}  // namespace

ExitCode show(Client& client, const Options& options) {
  const auto job = describe(client, options.ids.front());
  write_all(STDOUT_FILENO, options.as_json ? job.json + '\n' : job_text(job));
  return ExitCode::done;
}

std::unique_ptr<Sink> make_sink(const std::string& path) {
  if (path.empty()) return std::make_unique<ResultOutput>();
  return std::make_unique<ResultFile>(path);
}

void save_result(Client& client, const std::string& id, Sink& sink) {
  client.ask({.target = job_target(id).part("result").text(), .sink = &sink});
  sink.end();
}

ExitCode print_result(Client& client, const Options& options) {
  save_result(client, options.ids.front(), *make_sink(options.output));
  return ExitCode::done;
}

ExitCode retry(Client& client, const Options& options) {
  if (options.all) return requeue_all(client, options);
  return for_each_job(client, options, requeue_job);
}

/// A DELETE of a job that has ended would forget it, and its result.
Job abort_job(Client& client, const std::string& id) {
  const auto job = describe(client, id);
  if (!job.has_ended()) return change(client, "DELETE", job_target(id));
  throw Refused("finished", "the job " + id + " has ended: it is " + job.state +
                                "; 'heistctl delete " + id + "' forgets it");
}

ExitCode abort_jobs(Client& client, const Options& options) {
  return for_each_job(client, options, abort_job);
}

ExitCode erase_jobs(Client& client, const Options& options) {
  if (options.all) return erase_all(client, options);
  return for_each_job(client, options, erase_job);
}

ExitCode set_priority(Client& client, const Options& options) {
  return for_each_job(client, options, [&options](Client& asked, const std::string& id) {
    return change(asked, "PUT", job_target(id).parameter("priority", options.priority));
  });
}

}  // namespace heistctl
