// OutputFile: a file that is written from its beginning.
#pragma once

#include <cstdio>
#include <heist/version.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace HEIST_NAMESPACE::detail {

/// Errors: each call throws std::system_error with the name of the file.
class OutputFile {
 public:
  explicit OutputFile(const std::string& path);

  void write(std::string_view bytes);
  /// To be called last: says whether all has been written.
  void close();

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { static_cast<void>(std::fclose(file)); }
  };

  [[noreturn]] void fail() const;

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace HEIST_NAMESPACE::detail
