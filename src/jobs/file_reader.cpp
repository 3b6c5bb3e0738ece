#include <filesystem>
#include <heistd/job_failure.hpp>
#include <heistd/limits.hpp>
#include <jobs/file_reader.hpp>

namespace heistd {
namespace {

JobFailure unreadable(const std::string& path) {
  return {"no_result_file", "the file of the result cannot be read: " + path};
}

}  // namespace

/// Opening a pipe would wait for its writer.
FileReader::FileReader(const std::string& path) : path_(path) {
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) file_.open(path, std::ios::binary);
  if (!file_.is_open()) throw unreadable(path);
}

std::string FileReader::read() {
  std::string block(block_bytes, '\0');
  file_.read(block.data(), static_cast<std::streamsize>(block.size()));
  if (file_.bad()) throw unreadable(path_);
  block.resize(static_cast<std::size_t>(file_.gcount()));
  return block;
}

}  // namespace heistd
