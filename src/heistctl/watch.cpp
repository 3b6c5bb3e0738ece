#include <unistd.h>

#include <chrono>
#include <heistctl/commands.hpp>
#include <heistctl/interrupt.hpp>
#include <heistctl/render.hpp>
#include <heistctl/status_line.hpp>
#include <heistctl/target.hpp>
#include <string>
#include <utility>

namespace heistctl {
namespace {

using Clock = std::chrono::steady_clock;

/// A line that is written again and again on a terminal, and elsewhere a line for each change.
class JobView {
 public:
  explicit JobView(int output) : output_(output), line_(output) {}

  void show(const Job& job) {
    if (job.has_ended()) line_.clear();
    if (line_.is_on_terminal() && !job.has_ended()) {
      line_.show(progress_line(job, Clock::now() - begin_, line_.width()));
      return;
    }
    const auto tenths = static_cast<int>(job.progress.value_or(0) * 10);
    if (std::exchange(shown_, std::pair(job.state, tenths)) == std::pair(job.state, tenths)) return;
    write_all(output_, job_line(job) + '\n');
  }

 private:
  int output_;
  StatusLine line_;
  Clock::time_point begin_ = Clock::now();
  std::pair<std::string, int> shown_;
};

Job follow_to_the_end(Client& client, const std::string& id, int output) {
  JobView view(output);
  auto target = job_target(id);  // at first without a wait
  for (;;) {
    const auto job = parse_job(client.ask({.target = target.text()}).body);
    view.show(job);
    if (job.has_ended()) return job;
    check_interrupts();
    target = job_target(id).parameter("wait", "500ms");
  }
}

std::string outcome_of_abort(Client& client, const std::string& id) {
  forget_interrupts();
  try {
    return "the job " + id + " is " + abort_job(client, id).state;
  } catch (const Failure& failure) {
    return failure.what();
  }
}

}  // namespace

Job follow(Client& client, const std::string& id, int output, bool aborts) {
  try {
    return follow_to_the_end(client, id, output);
  } catch (const Failure& failure) {
    if (failure.code() != ExitCode::interrupted) throw;
  }
  throw Failure(ExitCode::interrupted, aborts ? "interrupted: " + outcome_of_abort(client, id)
                                              : "interrupted; the job goes on: 'heistctl watch " +
                                                    id + "' shows it again, and 'heistctl abort " +
                                                    id + "' ends it");
}

ExitCode watch(Client& client, const Options& options) {
  const auto job = follow(client, options.ids.front(), STDOUT_FILENO, options.aborts);
  return job.state == "done" ? ExitCode::done : ExitCode::job_failed;
}

}  // namespace heistctl
