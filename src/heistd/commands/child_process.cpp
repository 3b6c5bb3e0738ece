#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <heistd/commands/child_process.hpp>
#include <heistd/job_failure.hpp>
#include <system_error>

namespace heistd {
namespace {

[[noreturn]] void fail(int error, const char* what = "the program could not be started") {
  throw JobFailure("command_not_started",
                   std::string(what) + ": " + std::generic_category().message(error));
}

void require(int error) {
  if (error != 0) fail(error);
}

/// The reading and the writing end.
struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail(errno);
    reading = OwnedDescriptor(ends[0]);
    writing = OwnedDescriptor(ends[1]);
  }
  OwnedDescriptor reading;
  OwnedDescriptor writing;
};

/// The program's descriptors: its three, and none of ours.
struct FileActions {
  FileActions(const Pipe& in, const Pipe& out, const Pipe& err) {
    require(::posix_spawn_file_actions_init(&actions));
    require(::posix_spawn_file_actions_adddup2(&actions, in.reading.get(), 0));
    require(::posix_spawn_file_actions_adddup2(&actions, out.writing.get(), 1));
    require(::posix_spawn_file_actions_adddup2(&actions, err.writing.get(), 2));
    require(::posix_spawn_file_actions_addclosefrom_np(&actions, 3));
  }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  posix_spawn_file_actions_t actions{};
};

/// A group of its own, and signals as a program expects them: we ignore some.
struct Attributes {
  Attributes() {
    require(::posix_spawnattr_init(&attributes));
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    require(::posix_spawnattr_setsigdefault(&attributes, &all));
    require(::posix_spawnattr_setsigmask(&attributes, &none));
    require(::posix_spawnattr_setpgroup(&attributes, 0));
    require(::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
  }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  posix_spawnattr_t attributes{};
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  // posix_spawn takes pointers to what it does not change.
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));  // NOLINT
  pointers.push_back(nullptr);
  return pointers;
}

/// More for what is less urgent, on top of the server's own.
int niceness_of(heist::TaskPriority priority) noexcept {
  static const int own = ::getpriority(PRIO_PROCESS, 0);
  constexpr int step = 5;
  const auto below =
      static_cast<int>(heist::TaskPriority::user_blocking) - static_cast<int>(priority);
  return own + step * below;
}

}  // namespace

OwnedDescriptor::~OwnedDescriptor() {
  if (number_ >= 0) ::close(number_);
}

ChildProcess::ChildProcess(const std::vector<std::string>& words,
                           const std::vector<std::string>& environment, std::size_t memory) {
  start(words, environment);
  // The C library's own function cannot be linked from C++ before 2.37.
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  try {
    if (descriptor < 0) fail(errno);
    ended = OwnedDescriptor(descriptor);
    if (memory > 0) limit_memory(memory);
  } catch (const JobFailure&) {
    static_cast<void>(reap());
    throw;
  }
}

/// A limit of the server's own that is lower stays.
void ChildProcess::limit_memory(std::size_t memory) const {
  constexpr const char* what = "the memory of the program could not be limited";
  rlimit limit{};
  if (::prlimit(pid_, RLIMIT_AS, nullptr, &limit) != 0) fail(errno, what);
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, memory);
  limit.rlim_cur = limit.rlim_max;
  if (::prlimit(pid_, RLIMIT_AS, &limit, nullptr) != 0) fail(errno, what);
}

void ChildProcess::start(const std::vector<std::string>& words,
                         const std::vector<std::string>& environment) {
  Pipe in;
  Pipe out;
  Pipe err;
  const FileActions files(in, out, err);
  const Attributes attributes;
  const auto arguments = pointers_to(words);
  const auto variables = pointers_to(environment);
  require(::posix_spawn(&pid_, words.front().c_str(), &files.actions, &attributes.attributes,
                        arguments.data(), variables.data()));
  input = std::move(in.writing);
  output = std::move(out.reading);
  errors = std::move(err.reading);
}

ChildProcess::~ChildProcess() { static_cast<void>(reap()); }

void ChildProcess::kill() noexcept {
  const std::lock_guard lock(mutex_);
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
}

void ChildProcess::follow(const heist::TaskSignal& signal) noexcept {
  const std::lock_guard lock(mutex_);
  if (pid_ > 0) ::setpriority(PRIO_PGRP, static_cast<id_t>(pid_), niceness_of(signal.priority()));
}

ChildProcess::End ChildProcess::reap() noexcept {
  const std::lock_guard lock(mutex_);
  if (pid_ <= 0) return {};
  ::kill(-pid_, SIGKILL);
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED) != 0 && errno == EINTR) {
  }
  pid_ = -1;
  return {info.si_code != CLD_EXITED, info.si_status};
}

}  // namespace heistd
