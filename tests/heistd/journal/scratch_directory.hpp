// ScratchDirectory: a directory of its own for a test.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace heistd {

/// Gone, with all that is in it, when the test is over.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    if (::mkdtemp(name_.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name_);
    }
  }
  ~ScratchDirectory() { std::filesystem::remove_all(name_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  [[nodiscard]] std::filesystem::path path() const { return name_; }

 private:
  std::string name_ = (std::filesystem::temp_directory_path() / "heistd-journal-XXXXXX").string();
};

}  // namespace heistd
