#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <heistctl/failure.hpp>
#include <heistctl/result_file.hpp>
#include <heistctl/status_line.hpp>
#include <utility>

namespace heistctl {
namespace {

[[noreturn]] void fail_to_save(const std::string& path) {
  throw Failure(ExitCode::local, "cannot write the result to " + path + ": " + last_error() +
                                     "; the server still has it ('heistctl result')");
}

[[noreturn]] void fail_to_sync(const std::string& path) {
  throw Failure(ExitCode::local,
                "the result is in " + path + ", but a loss of power may take it: its folder: " +
                    last_error() + "; the server still has it ('heistctl result')");
}

/// What open() would give a new file: mkostemp() gives its file to its owner only.
mode_t usual_mode() noexcept {
  const auto mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// After this the file has its name even if the machine loses power. A folder that may be written
/// and not read cannot be synced, and some file systems cannot sync folders at all.
bool sync_folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  const Descriptor opened(
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) return errno == EACCES;
  return fsync(opened.number()) == 0 || errno == EINVAL;
}

bool is_text(std::string_view content_type) noexcept {
  return content_type.starts_with("application/json") || content_type.starts_with("text/");
}

}  // namespace

ResultFile::ResultFile(std::string path)
    : path_(std::move(path)), temporary_path_(path_ + ".XXXXXX") {
  struct stat there{};
  if (stat(path_.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    throw Failure(ExitCode::usage,
                  path_ + " is no plain file, and would be replaced by one; write to it by '> " +
                      path_ + "' instead");
  }
  file_ = Descriptor(mkostemp(temporary_path_.data(), O_CLOEXEC));
  if (!file_.is_open()) fail_to_save(path_);
}

ResultFile::~ResultFile() {
  if (file_.is_open()) unlink(temporary_path_.c_str());
}

void ResultFile::begin(std::string_view /*content_type*/) {
  if (ftruncate(file_.number(), 0) != 0 || lseek(file_.number(), 0, SEEK_SET) != 0) {
    fail_to_save(path_);
  }
}

void ResultFile::write(std::string_view piece) {
  write_all(file_.number(), piece, temporary_path_);
}

void ResultFile::end() {
  const bool is_kept = fchmod(file_.number(), usual_mode()) == 0 && fsync(file_.number()) == 0 &&
                       rename(temporary_path_.c_str(), path_.c_str()) == 0;
  if (!is_kept) fail_to_save(path_);
  file_ = Descriptor();
  if (!sync_folder_of(path_)) fail_to_sync(path_);
}

void ResultOutput::begin(std::string_view content_type) {
  if (has_written_) {
    throw Failure(ExitCode::unreachable,
                  "the connection was lost in the middle of the result; --output FILE begins anew "
                  "by itself then");
  }
  if (isatty(STDOUT_FILENO) == 0 || is_text(content_type)) return;
  throw Failure(ExitCode::usage, "the result is " + std::string(content_type) +
                                     ", which is not for a terminal; write it to a file by "
                                     "--output FILE");
}

void ResultOutput::write(std::string_view piece) {
  has_written_ = true;
  write_all(STDOUT_FILENO, piece);
}

}  // namespace heistctl
