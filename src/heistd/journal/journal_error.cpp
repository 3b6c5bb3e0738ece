#include <array>
#include <cerrno>
#include <heistd/journal/journal_error.hpp>
#include <new>
#include <string_view>

namespace heistd {
namespace {

struct Text {
  std::string_view what;
  std::string_view remedy;
};

Text text_of(JournalFault fault) noexcept {
  switch (fault) {
    case JournalFault::disk_full:
      return {"the disk is full", "make room on it; the server goes on by itself then"};
    case JournalFault::locked:
      return {"another program holds a lock on the database", "end that program's transaction"};
    case JournalFault::read_only:
      return {"it may not be written",
              "give the server's user the right to write the directory and its files, or mount the "
              "disk for writing"};
    case JournalFault::corrupt:
      return {"it is damaged",
              "keep a copy of the directory, and then restore it from a backup, or start with an "
              "empty one"};
    case JournalFault::in_use:
      return {"another server uses it", "end that server, or give this one another directory"};
    case JournalFault::too_new:
      return {"a newer version of the server has made it", "start that version"};
    case JournalFault::out_of_memory:
      return {"there is no memory left", "try again later"};
    case JournalFault::unreachable:
      return {"the database cannot be reached", "the server goes on by itself when it can be"};
    case JournalFault::unknown_outcome:
      return {"the connection to the database was lost before it answered",
              "whether it was stored is not known: repeat the request with its Idempotency-Key, or "
              "look for what it was to do"};
    case JournalFault::io_failed:
      break;
  }
  return {"reading or writing has failed", "look at the disk and at the system's log"};
}

/// In the order of JournalFault.
constexpr std::array<std::string_view, journal_faults> names = {
    "disk_full", "locked",  "read_only",     "corrupt",     "io_failed",
    "in_use",    "too_new", "out_of_memory", "unreachable", "unknown_outcome"};

}  // namespace

JournalError error_of(const std::exception& slip) noexcept {
  if (dynamic_cast<const std::bad_alloc*>(&slip) != nullptr) {
    return {JournalFault::out_of_memory, {}};
  }
  try {
    return {JournalFault::io_failed, slip.what()};
  } catch (const std::bad_alloc&) {
    return {JournalFault::io_failed, {}};
  }
}

std::string_view name_of(JournalFault fault) noexcept {
  return names[static_cast<std::size_t>(fault)];
}

JournalFault fault_of_system(int error) noexcept {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return JournalFault::disk_full;
    case EACCES:
    case EPERM:
    case EROFS:
      return JournalFault::read_only;
    case ENOMEM:
      return JournalFault::out_of_memory;
    default:
      return JournalFault::io_failed;
  }
}

std::string describe(const JournalError& error) {
  const auto text = text_of(error.fault);
  std::string all(text.what);
  if (!error.detail.empty()) all += " (" + error.detail + ")";
  return all += ": " + std::string(text.remedy);
}

}  // namespace heistd
