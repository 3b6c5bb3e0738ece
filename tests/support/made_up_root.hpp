// MadeUpRoot: a folder that stands for the root of a file system.
#pragma once

#include <stdlib.h>

#include <gtest/gtest.h>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace heist::support {

/// A folder of its own, with the files that a test writes. It is removed at the end.
class MadeUpRoot {
 public:
  MadeUpRoot() {
    std::string name = testing::TempDir() + "heist_root_XXXXXX";
    if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  MadeUpRoot(const MadeUpRoot&) = delete;
  MadeUpRoot& operator=(const MadeUpRoot&) = delete;
  ~MadeUpRoot() { std::filesystem::remove_all(path_); }

  void write(const std::filesystem::path& file, std::string_view text) const {
    std::filesystem::create_directories((path_ / file).parent_path());
    std::ofstream(path_ / file) << text;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace heist::support
