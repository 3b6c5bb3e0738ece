// FileReader: a regular file, block by block.
#pragma once

#include <fstream>
#include <string>

namespace heistd {

class FileReader {
 public:
  /// Errors: JobFailure "no_result_file" when it cannot be opened, or is no regular file.
  explicit FileReader(const std::string& path);

  /// The next block; empty at the end.   Errors: JobFailure "no_result_file".
  [[nodiscard]] std::string read();

 private:
  std::string path_;
  std::ifstream file_;
};

}  // namespace heistd
