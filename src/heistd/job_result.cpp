#include <heistd/job_result.hpp>

namespace heistd {
namespace {

std::size_t bytes_of(const DigestResult& result) noexcept { return result.sha256.capacity(); }
std::size_t bytes_of(const CompressResult& result) noexcept { return held_bytes(*result.data); }
std::size_t bytes_of(const SearchResult& result) noexcept { return held_bytes(*result.lines); }

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): a JobResult is never valueless, so visit cannot throw.
std::size_t kept_bytes(const JobResult& result) noexcept {
  return sizeof result + std::visit([](const auto& kind) { return bytes_of(kind); }, result);
}

}  // namespace heistd
