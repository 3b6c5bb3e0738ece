// Upload: the bytes that a job is to work on, which can be sent more than once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heistctl/descriptor.hpp>
#include <string>

namespace heistctl {

class Upload {
 public:
  /// Opens a file; "-" is the standard input. What cannot be read twice, as a pipe, is copied into
  /// a file without a name first. Errors: a Failure when it cannot be read.
  explicit Upload(const std::string& path);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
  /// Reads on from the position. Returns how many bytes there are; 0 at the end.
  std::size_t read(char* to, std::size_t most);
  void seek(std::uint64_t position);

 private:
  void keep_copy();

  std::string name_;
  Descriptor file_;
  std::uint64_t bytes_ = 0;
};

}  // namespace heistctl
