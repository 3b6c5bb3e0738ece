#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <heistd/journal/data_directory.hpp>
#include <heistd/journal/journal_error.hpp>
#include <string_view>
#include <system_error>

namespace heistd {
namespace {

constexpr ::mode_t only_owner = 0700;
constexpr ::mode_t only_owner_file = 0600;

constexpr std::string_view filled_text = "This directory holds the journal of heistd.\n";

/// The lock is the only thing here that may have to be waited for.
JournalFault fault_of(int error) noexcept {
  return error == EWOULDBLOCK ? JournalFault::in_use : fault_of_system(error);
}

}  // namespace

DataDirectory::DataDirectory(const std::filesystem::path& path) : path_(path) {
  if (::mkdir(path_.c_str(), only_owner) == 0) {
    sync_parent();
  } else if (errno != EEXIST) {
    refuse();
  }
  lock_ = ::open((path_ / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, only_owner_file);
  if (lock_ < 0) refuse();
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
  const int error = errno;
  ::close(lock_);
  errno = error;
  refuse();
}

/// Or a loss of power might take the directory away, with all that is in it.
void DataDirectory::sync_parent() const {
  const int parent = ::open((path_ / "..").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) refuse();
  const int error = ::fsync(parent) == 0 ? 0 : errno;
  ::close(parent);
  errno = error;
  if (error != 0) refuse();
}

DataDirectory::~DataDirectory() { ::close(lock_); }

/// Files may go while they are counted.
std::uint64_t DataDirectory::bytes() const {
  std::uint64_t sum = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator file(path_, error), end; file != end && !error;
       file.increment(error)) {
    std::error_code gone;
    const auto size = file->file_size(gone);
    if (!gone) sum += size;
  }
  return sum;
}

std::optional<std::uint64_t> DataDirectory::free_bytes() const noexcept {
  std::error_code error;
  const auto space = std::filesystem::space(path_, error);
  if (error) return std::nullopt;
  return space.available;
}

bool DataDirectory::was_filled() const {
  struct ::stat status{};
  if (::fstat(lock_, &status) != 0) refuse();
  return status.st_size > 0;
}

void DataDirectory::set_filled() const {
  const auto written = ::pwrite(lock_, filled_text.data(), filled_text.size(), 0);
  if (written != static_cast<::ssize_t>(filled_text.size()) || ::fsync(lock_) != 0) refuse();
}

void DataDirectory::refuse() const {
  const int error = errno;
  throw JournalRefused(path_.string(), {fault_of(error), std::generic_category().message(error)});
}

}  // namespace heistd
