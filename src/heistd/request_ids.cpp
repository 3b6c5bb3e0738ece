#include <algorithm>
#include <heistd/job_id.hpp>
#include <heistd/request_ids.hpp>

namespace heistd {
namespace {

constexpr std::size_t most_letters = 64;

bool may_be_in_id(char letter) noexcept {
  const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
  const bool is_digit = letter >= '0' && letter <= '9';
  return is_letter || is_digit || letter == '.' || letter == '_' || letter == '-';
}

}  // namespace

bool is_request_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= most_letters && std::ranges::all_of(text, may_be_in_id);
}

std::string RequestIds::next(std::string_view own) {
  if (is_request_id(own)) return std::string(own);
  if (connection_.empty()) connection_ = make_job_id().substr(0, 16) + '-';
  return connection_ + std::to_string(++count_);
}

}  // namespace heistd
