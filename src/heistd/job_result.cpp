#include <heistd/job_result.hpp>

namespace heistd {
namespace {

std::size_t held(const SharedBlocks& blocks) noexcept { return blocks ? held_bytes(*blocks) : 0; }

std::size_t bytes_of(const BytesResult& result) noexcept {
  return result.content_type.capacity() + held(result.data);
}
std::size_t bytes_of(const JsonResult& result) noexcept {
  const auto& text = result.text;
  return text.before.capacity() + held(text.shared) + text.after.capacity();
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): a JobResult is never valueless, so visit cannot throw.
std::size_t kept_bytes(const JobResult& result) noexcept {
  return sizeof result + std::visit([](const auto& form) { return bytes_of(form); }, result);
}

}  // namespace heistd
