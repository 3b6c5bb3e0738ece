// MemoryFile: a file without a name, for libraries that write into files.
#pragma once

#include <heistd/blocks.hpp>
#include <string>

namespace heistd {

/// Whoever may not write any files has it, too.   Thread: one at a time.
class MemoryFile {
 public:
  /// The name is for people who look at the process.   Errors: std::system_error.
  explicit MemoryFile(const char* name);
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  /// Where to open it, as long as this lives.
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

  /// All that was written into it.   Errors: std::system_error, std::bad_alloc.
  [[nodiscard]] Blocks read() const;

 private:
  int descriptor_;
};

}  // namespace heistd
