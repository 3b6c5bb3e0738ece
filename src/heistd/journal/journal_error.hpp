// JournalError: why a journal could not do what it was asked for.
#pragma once

#include <array>
#include <boost/system/result.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heistd {

enum class JournalFault : std::uint8_t {
  disk_full,
  locked,
  read_only,
  corrupt,
  io_failed,
  in_use,
  too_new,
  out_of_memory,
  unreachable,
  unknown_outcome,
};

inline constexpr auto journal_faults = static_cast<std::size_t>(JournalFault::unknown_outcome) + 1;

/// How it is called in figures, such as "disk_full".
[[nodiscard]] std::string_view name_of(JournalFault fault) noexcept;

/// How often a journal could not do what it was asked for, by why.
class JournalFailures {
 public:
  void note(JournalFault fault) noexcept { ++counts_[static_cast<std::size_t>(fault)]; }
  [[nodiscard]] std::uint64_t of(JournalFault fault) const noexcept {
    return counts_[static_cast<std::size_t>(fault)];
  }

 private:
  std::array<std::uint64_t, journal_faults> counts_{};
};

/// What an error number of the system means for a journal.
[[nodiscard]] JournalFault fault_of_system(int error) noexcept;

/// What was wrong, and what the system or the database said of it.
struct JournalError {
  JournalFault fault = JournalFault::io_failed;
  std::string detail;
};

/// For anything but the database's own errors: a lack of memory, or a mistake of ours, which harms
/// one request and no other.
[[nodiscard]] JournalError error_of(const std::exception& slip) noexcept;

/// What was wrong and what to do about it, as one text for people.
[[nodiscard]] std::string describe(const JournalError& error);

/// A value, or why there is none; nothing was changed then.
template <class T>
using JournalResult = boost::system::result<T, JournalError>;

/// A journal that cannot be opened. Its text says which, why, and what to do.
class JournalRefused : public std::runtime_error {
 public:
  JournalRefused(const std::string& directory, const JournalError& error)
      : runtime_error("the journal in " + directory + " cannot be opened: " + describe(error)),
        fault_(error.fault) {}
  [[nodiscard]] JournalFault fault() const noexcept { return fault_; }

 private:
  JournalFault fault_;
};

}  // namespace heistd
