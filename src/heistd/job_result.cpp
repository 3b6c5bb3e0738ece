#include <heistd/job_result.hpp>

namespace heistd {
namespace {

std::size_t bytes_of(const DigestResult& result) noexcept { return result.sha256.size(); }

std::size_t bytes_of(const CompressResult& result) noexcept { return byte_count(*result.data); }

std::size_t bytes_of(const SearchResult& result) noexcept {
  std::size_t bytes = 0;
  for (const auto& line : result.lines) bytes += sizeof line + line.text.size();
  return bytes;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): a JobResult is never valueless, so visit cannot throw.
std::size_t kept_bytes(const JobResult& result) noexcept {
  return std::visit([](const auto& kind) { return bytes_of(kind); }, result);
}

}  // namespace heistd
