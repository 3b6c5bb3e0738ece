#include <sys/random.h>

#include <array>
#include <cerrno>
#include <heistd/hex.hpp>
#include <heistd/job_id.hpp>
#include <system_error>

namespace heistd {
namespace {

constexpr std::size_t id_bytes = 16;

}  // namespace

JobId make_job_id() {
  std::array<unsigned char, id_bytes> bytes{};
  // A request this small is never cut short; it can only fail.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return to_hex(bytes);
}

bool is_job_id(std::string_view text) noexcept {
  return text.size() == 2 * id_bytes &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace heistd
