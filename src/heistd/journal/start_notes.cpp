#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <heistd/journal/sqlite_database.hpp>
#include <heistd/journal/start_notes.hpp>
#include <optional>
#include <string_view>
#include <system_error>

namespace heistd {
namespace {

constexpr ::mode_t only_owner = 0600;

/// A note is a line of this many bytes: the job, a space, the attempt, spaces, and the first half
/// of the id once more, so that one of which a part was written over another one is none. None goes
/// across two pages of the system's memory, and a person can read them.
constexpr std::size_t note_bytes = 64;
constexpr std::size_t id_bytes = 32;
constexpr std::size_t half_id_bytes = id_bytes / 2;

using Line = std::array<char, note_bytes>;

std::filesystem::path file_in(const std::filesystem::path& directory) {
  return directory / "starts";
}

JournalError error_of(int error) {
  return {fault_of_system(error), "the file \"starts\": " + std::generic_category().message(error)};
}

Line line_of(std::string_view id, Attempt attempt) {
  Line line;
  line.fill(' ');
  auto* const behind_id = std::ranges::copy(id, line.begin()).out;
  std::to_chars(behind_id + 1, line.end(), attempt);
  std::ranges::copy(id.substr(0, half_id_bytes), line.end() - half_id_bytes - 1);
  line.back() = '\n';
  return line;
}

std::optional<StartNote> parse(std::string_view line) {
  const auto id = line.substr(0, id_bytes);
  const auto end_of_line = line.substr(line.size() - half_id_bytes - 1, half_id_bytes);
  const bool is_whole = id.starts_with(end_of_line) && line.back() == '\n';
  if (!is_whole || line[id_bytes] != ' ' || !is_job_id(id)) return std::nullopt;
  StartNote note{JobId(id), 0};
  const auto* const number = line.data() + id_bytes + 1;
  const auto [end, error] = std::from_chars(number, line.data() + line.size(), note.attempt);
  if (error != std::errc() || note.attempt == 0) return std::nullopt;
  return note;
}

}  // namespace

std::vector<StartNote> StartNotes::left_in(const std::filesystem::path& directory) {
  std::vector<StartNote> notes;
  errno = 0;
  std::ifstream file(file_in(directory), std::ios::binary);
  if (!file.is_open() && errno == ENOENT) return notes;
  for (Line line; file.read(line.data(), line.size());) {
    if (auto note = parse({line.data(), line.size()})) notes.push_back(std::move(*note));
  }
  if (!file.eof()) throw SqliteError(error_of(errno));
  return notes;
}

StartNotes::StartNotes(const std::filesystem::path& directory) {
  const auto made = directory / "starts.new";
  file_ = ::open(made.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, only_owner);
  const bool is_there = file_ >= 0 && std::rename(made.c_str(), file_in(directory).c_str()) == 0;
  if (is_there) return;
  const int error = errno;
  if (file_ >= 0) ::close(file_);
  throw JournalRefused(directory.string(), error_of(error));
}

StartNotes::~StartNotes() { ::close(file_); }

void StartNotes::write(std::size_t place, const JobId& id, Attempt attempt) {
  const auto line = line_of(id, attempt);
  const auto written =
      ::pwrite(file_, line.data(), line.size(), static_cast<::off_t>(place * note_bytes));
  if (written < 0) throw SqliteError(error_of(errno));
  if (static_cast<std::size_t>(written) != line.size()) throw SqliteError(error_of(ENOSPC));
  if (is_replaced()) throw SqliteError({JournalFault::in_use, "the file \"starts\" is new"});
}

bool StartNotes::is_replaced() const noexcept {
  struct ::stat status{};
  return ::fstat(file_, &status) == 0 && status.st_nlink == 0;
}

}  // namespace heistd
