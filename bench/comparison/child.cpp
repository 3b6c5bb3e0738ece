#include "child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace bench {

namespace {

using Clock = std::chrono::steady_clock;

struct Child {
  pid_t process;
  int output;
};

/// The child's side between fork and exec.
[[noreturn]] void become(const std::vector<std::string>& command, int output) {
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  dup2(output, STDOUT_FILENO);
  execv(words[0], words.data());
  std::perror(words[0]);
  _exit(127);
}

Child start(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category());
  const pid_t process = fork();
  if (process < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (process == 0) become(command, ends[1]);
  close(ends[1]);
  return {process, ends[0]};
}

/// All that the child says until it closes its output; nothing when that takes too long.
std::optional<std::string> read_until(int output, Clock::time_point deadline) {
  std::string said;
  std::array<char, 512> block{};
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    pollfd entry{.fd = output, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || poll(&entry, 1, int(left.count())) == 0) return std::nullopt;
    const auto bytes = read(output, block.data(), block.size());
    if (bytes <= 0) return said;
    said.append(block.data(), std::size_t(bytes));
  }
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    return std::string("was killed by signal ") + std::to_string(WTERMSIG(status));
  }
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

std::string output_of(const std::vector<std::string>& command, std::chrono::milliseconds limit) {
  const Child child = start(command);
  const auto said = read_until(child.output, Clock::now() + limit);
  close(child.output);
  if (!said) kill(child.process, SIGKILL);
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!said) throw std::runtime_error("took longer than " + std::to_string(limit.count()) + " ms");
  if (status != 0) throw std::runtime_error(describe(status));
  return *said;
}

ChildReport parse(const std::string& line, std::size_t figures) {
  std::istringstream in(line);
  ChildReport report{std::vector<double>(figures), {}};
  auto& counts = report.counts;
  in >> counts.shared_updates >> counts.remote_lines >> counts.system_calls >> counts.allocations >>
      counts.nodes;
  for (double& figure : report.figures) in >> figure;
  std::string rest;
  if (!in || in >> rest) throw std::runtime_error("said \"" + line + "\"");
  return report;
}

}  // namespace

void measure_and_print(const Measurement& measurement, double scale) {
  Run run(scale);
  measurement.measure(run);
  const auto& counted = run.counted();
  for (const auto count : {counted.shared_updates, counted.remote_lines, counted.system_calls,
                           counted.allocations, counted.nodes}) {
    std::printf("%.9g ", double(count) / double(std::max<std::int64_t>(run.operations(), 1)));
  }
  for (const double figure : run.figures()) std::printf("%.9g ", figure);
  std::printf("\n");
}

ChildReport measure_in_child(const std::string& program, const Measurement& measurement,
                             double scale, std::chrono::milliseconds limit) {
  try {
    const auto said = output_of({program, "--measure", measurement.workload, measurement.subject,
                                 "--scale", std::to_string(scale)},
                                limit);
    return parse(said, measurement.figures.size());
  } catch (const std::exception& error) {
    throw std::runtime_error(measurement.workload + ' ' + measurement.subject + ": " +
                             error.what());
  }
}

}  // namespace bench
