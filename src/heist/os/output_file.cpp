#include "output_file.hpp"

#include <cerrno>
#include <system_error>

namespace HEIST_NAMESPACE::detail {

OutputFile::OutputFile(const std::string& path)
    : path_(path), file_(std::fopen(path.c_str(), "wb")) {
  if (file_ == nullptr) fail();
}

void OutputFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) fail();
}

void OutputFile::close() {
  if (std::fclose(file_.release()) != 0) fail();
}

void OutputFile::fail() const {
  throw std::system_error(errno, std::generic_category(), "cannot write the file " + path_);
}

}  // namespace HEIST_NAMESPACE::detail
