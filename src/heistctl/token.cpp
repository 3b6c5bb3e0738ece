#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <heistctl/failure.hpp>
#include <heistctl/token.hpp>
#include <iterator>

namespace heistctl {
namespace {

/// It becomes a part of a header's line.
std::string checked(const std::string& token, const std::string& source) {
  const bool is_plain =
      std::ranges::all_of(token, [](char letter) { return letter > ' ' && letter < '\x7f'; });
  if (!token.empty() && is_plain) return token;
  throw Failure(ExitCode::usage,
                source + " has no token: it must be one line of letters, digits and signs");
}

std::string first_file_line(const std::string& path) {
  std::ifstream file(path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) {
    throw Failure(ExitCode::local, "cannot read the token in " + path + ": " +
                                       std::strerror(errno) + "; --token-file names the file");
  }
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

std::string read_token(const std::string& file) {
  if (!file.empty()) return checked(first_file_line(file), file);
  const char* const token = std::getenv("HEIST_TOKEN");
  return token == nullptr ? std::string() : checked(token, "HEIST_TOKEN");
}

}  // namespace heistctl
