#include <algorithm>
#include <array>
#include <cstdlib>
#include <heistctl/failure.hpp>
#include <heistctl/token.hpp>
#include <heistctl/upload.hpp>

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

std::string token_in_file(const std::string& path) {
  Upload file(path);
  std::array<char, 4096> text{};  // no token is as long
  std::string token(text.data(), file.read(text.data(), text.size()));
  if (token.ends_with('\n')) token.pop_back();
  return token;
}

}  // namespace

std::string read_token(const std::string& file) {
  if (!file.empty()) return checked(token_in_file(file), file);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
  const char* const token = std::getenv("HEIST_TOKEN");
  return token == nullptr ? std::string() : checked(token, "HEIST_TOKEN");
}

}  // namespace heistctl
