#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <heistctl/failure.hpp>
#include <heistctl/interrupt.hpp>
#include <heistctl/status_line.hpp>
#include <heistctl/upload.hpp>

namespace heistctl {
namespace {

[[noreturn]] void fail_to_read(const std::string& name) {
  throw Failure(ExitCode::local, "cannot read " + name + ": " + last_error());
}

/// In TMPDIR, or /tmp.
Descriptor unnamed_file() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/heistctl-XXXXXX";
  Descriptor file(mkostemp(path.data(), O_CLOEXEC));
  if (!file.is_open() || unlink(path.c_str()) != 0) {
    throw Failure(ExitCode::local, "cannot keep a copy of the standard input at " + path + ": " +
                                       last_error() + "; TMPDIR names another folder for it");
  }
  return file;
}

struct stat status_of(int descriptor, const std::string& name) {
  struct stat status{};
  if (fstat(descriptor, &status) != 0) fail_to_read(name);
  return status;
}

}  // namespace

Upload::Upload(const std::string& path)
    : name_(path == "-" ? "the standard input" : path),
      file_(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                        : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (!file_.is_open()) fail_to_read(name_);
  if (isatty(file_.number()) == 1) {
    write_all(STDERR_FILENO, "heistctl: reading the upload from the terminal; Ctrl-D ends it\n");
  }
  if (!S_ISREG(status_of(file_.number(), name_).st_mode)) keep_copy();
  bytes_ = static_cast<std::uint64_t>(status_of(file_.number(), name_).st_size);
  seek(0);
}

void Upload::keep_copy() {
  auto copy = unnamed_file();
  std::array<char, 65536> block{};
  while (const auto count = read(block.data(), block.size())) {
    write_all(copy.number(), {block.data(), count}, "the copy of " + name_ + " in TMPDIR");
  }
  file_ = std::move(copy);
}

std::size_t Upload::read(char* to, std::size_t most) {
  for (;;) {
    const auto count = ::read(file_.number(), to, most);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) fail_to_read(name_);
    check_interrupts();
  }
}

void Upload::seek(std::uint64_t position) {
  if (lseek(file_.number(), static_cast<off_t>(position), SEEK_SET) < 0) fail_to_read(name_);
}

}  // namespace heistctl
