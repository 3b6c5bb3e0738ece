#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <exception>
#include <heist/detail/access.hpp>
#include <heist/task_signal.hpp>
#include <heistd/commands/command_run.hpp>
#include <heistd/commands/commands.hpp>
#include <iostream>
#include <jobs/handler_kind.hpp>
#include <jobs/job_core.hpp>
#include <source_location>
#include <string_view>
#include <utility>

extern char** environ;  // NOLINT: of POSIX

namespace heistd {
namespace {

namespace asio = boost::asio;

/// What is the server's own: tokens, and its service manager's sockets.
constexpr std::string_view own_variables[] = {"HEISTD_", "LISTEN_", "NOTIFY_SOCKET=", "WATCHDOG_"};

bool is_own(std::string_view variable) {
  return std::ranges::any_of(own_variables,
                             [&](auto prefix) { return variable.starts_with(prefix); });
}

/// The server's environment without that, and what the program is to know of the job.
std::vector<std::string> environment_for(const heist::jobs::detail::JobCore& job) {
  std::vector<std::string> variables;
  for (auto** variable = ::environ; *variable != nullptr; ++variable) {
    if (!is_own(*variable)) variables.emplace_back(*variable);
  }
  variables.push_back("HEISTD_JOB_ID=" + job.id);
  variables.push_back("HEISTD_ATTEMPT=" + std::to_string(job.attempt));
  for (const auto& [name, value] : job.parameters) {
    variables.emplace_back("HEISTD_PARAM_").append(name).append("=").append(value);
  }
  return variables;
}

std::size_t turns_of(const CommandLimits& limits) {
  if (limits.at_a_time > 0) return limits.at_a_time;
  return std::max(1U, std::thread::hardware_concurrency());
}

void run_on(asio::io_context& io) {
  const auto work = asio::make_work_guard(io);
  while (!io.stopped()) {
    try {
      io.run();
    } catch (const std::exception& error) {
      std::cerr << "heistd: watching programs: " << error.what() << std::endl;
    }
  }
}

/// While SIGCHLD is ignored, which a process inherits, nobody gets to know how a program has ended.
void heed_ends_of_programs() {
  struct ::sigaction action{};
  ::sigaction(SIGCHLD, nullptr, &action);
  if (action.sa_handler == SIG_IGN) std::signal(SIGCHLD, SIG_DFL);
}

}  // namespace

Commands::Commands(const CommandLimits& limits) : limits_(limits), turns_(turns_of(limits)) {}

std::size_t Commands::descriptors() const {
  return thread_.joinable() ? ChildProcess::descriptors * turns_of(limits_) : 0;
}

void Commands::end() {
  if (!io_) return;
  io_->stop();
  if (thread_.joinable()) thread_.join();
  io_.reset();
}

void Commands::add_to(KindTable& kinds, const Command& command) {
  const auto failures = std::make_shared<CommandFailures>();
  auto kind = make_handler_kind(
      command.name,
      [this, words = command.words, failures](heist::jobs::Job job) {
        return run(words, failures, std::move(job));
      },
      {.max_result_bytes = limits_.output}, std::source_location::current());
  kind.takes_any_parameter = true;
  kind.at_a_time = turns_of(limits_);
  kind.failures = failures;
  kinds.add(std::move(kind));
  if (thread_.joinable()) return;
  heed_ends_of_programs();
  thread_ = std::thread([this] { run_on(*io_); });
}

heist::Promise<heist::jobs::Result> Commands::run(const std::vector<std::string>& words,
                                                  Failures failures, heist::jobs::Job job) {
  const auto turn = co_await turns_.acquire();
  const auto process = start(words, *failures, job);
  const auto at_abort = job.signal().on_abort([process] { process->kill(); });
  const auto at_change = job.signal().on_priority_change(
      [process, signal = job.signal()](const heist::PriorityChangeEvent& /*the signal has it*/) {
        process->follow(signal);
      });
  process->follow(job.signal());
  if (job.signal().aborted()) process->kill();
  auto watched = watch(process, failures, job);
  auto result = co_await watched.taken();
  co_return result;
}

std::shared_ptr<ChildProcess> Commands::start(const std::vector<std::string>& words,
                                              CommandFailures& failures,
                                              const heist::jobs::Job& job) const {
  try {
    return std::make_shared<ChildProcess>(words, environment_for(heist::detail::Access::core(job)),
                                          limits_.memory);
  } catch (const JobFailure&) {
    failures.note(CommandFailures::Why::not_started);
    throw;
  }
}

heist::Promise<heist::jobs::Result> Commands::watch(std::shared_ptr<ChildProcess> process,
                                                    Failures failures, heist::jobs::Job& job) {
  Blocks input;
  while (auto piece = job.read()) input.push_back(std::move(*piece));
  auto [promise, resolver] = heist::Promise<heist::jobs::Result>::with_resolver();
  const auto started =
      std::make_shared<CommandRun>(*io_, std::move(process), std::move(input), limits_,
                                   std::move(failures), std::move(resolver));
  asio::post(*io_, [started] { started->begin(); });
  return promise;
}

}  // namespace heistd
