#include <unistd.h>

#include <array>
#include <heistctl/commands.hpp>
#include <heistctl/render.hpp>
#include <heistctl/status_line.hpp>
#include <heistctl/target.hpp>
#include <heistctl/upload.hpp>
#include <iostream>
#include <random>
#include <string>

namespace heistctl {
namespace {

/// 128 bits by chance, so that no other request has it.
std::string new_key() {
  constexpr std::string_view digits = "0123456789abcdef";
  std::random_device random;
  std::string key = "heistctl-";
  for (int i = 0; i < 32; ++i) key += digits[random() % digits.size()];
  return key;
}

std::string target_of(const Options& options) {
  Target target("/jobs");
  target.part(options.kind);
  for (const auto& [name, value] : options.parameters) target.parameter(name, value);
  return target.text();
}

/// With a key it is one job, however often the server gets it. A server without a journal takes
/// no key, so that there a request whose answer is lost cannot be repeated.
std::string send(Client& client, const Options& options, const std::string& target,
                 Upload& upload) {
  Request request{.method = "POST",
                  .target = target,
                  .upload = &upload,
                  .key = options.key.empty() ? new_key() : options.key};
  try {
    return client.ask(request).body;
  } catch (const Refused& refused) {
    if (refused.reason() != "no_journal" || !options.key.empty()) throw;
  }
  request.key.clear();
  return client.ask(request).body;
}

Job send_job(Client& client, const Options& options, Upload& upload) {
  return parse_job(send(client, options, target_of(options), upload));
}

}  // namespace

ExitCode submit(Client& client, const Options& options) {
  Upload upload(options.file);
  // What cannot be written is known before the job is sent.
  const auto sink = options.waits ? make_sink(options.output) : nullptr;
  auto job = send_job(client, options, upload);
  if (!options.waits) {
    write_all(STDOUT_FILENO, job.id + '\n');
    return ExitCode::done;
  }
  job = follow(client, job.id, STDERR_FILENO, false);
  if (job.state != "done") return ExitCode::job_failed;
  save_result(client, job.id, *sink);
  return ExitCode::done;
}

/// Lines that are refused are told, and the others are jobs all the same.
ExitCode submit_bulk(Client& client, const Options& options) {
  Upload upload(options.file);
  const auto jobs = parse_bulk(send(client, options, "/jobs", upload));
  auto code = ExitCode::done;
  std::string ids;
  for (std::size_t index = 0; index < jobs.size(); ++index) {
    const auto& job = jobs[index];
    if (!job.id.empty()) {
      ids += job.id + '\n';
      continue;
    }
    code = ExitCode::refused;
    std::cerr << "heistctl: job " << index + 1 << ": " << refusal_text(job.refusal) << '\n';
  }
  write_all(STDOUT_FILENO, ids);
  return code;
}

}  // namespace heistctl
