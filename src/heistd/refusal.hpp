// Refusal: why a request was not done, in the words of HTTP.
#pragma once

#include <boost/system/result.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>

namespace heistd {

/// Everything a refusing reply says.
struct Refusal {
  unsigned status = 400;
  std::string code;        ///< for programs
  std::string message;     ///< for people
  std::string field = {};  ///< the query parameter, header or path element that was wrong
  std::string allow = {};  ///< of 405
  std::chrono::seconds retry_after{1};  ///< of 429 and 503
};

/// A value, or why there is none.
template <class T>
using Result = boost::system::result<T, Refusal>;

[[nodiscard]] inline Refusal bad_parameter(std::string_view name, std::string message) {
  return {400, "bad_parameter", std::move(message), std::string(name)};
}
[[nodiscard]] inline Refusal not_found(std::string message) {
  return {404, "not_found", std::move(message)};
}
/// Too much of something for now: the client may try again.
[[nodiscard]] inline Refusal unavailable(std::string code, std::string message) {
  return {503, std::move(code), std::move(message)};
}
[[nodiscard]] inline Refusal no_predecessor(const std::string& id) {
  return {404, "no_predecessor",
          "job " + id + " is not known, or was forgotten, so that no other one can start after it",
          "after"};
}
[[nodiscard]] inline Refusal predecessor_has_failed(const std::string& id) {
  return {409, "predecessor_failed",
          "job " + id + " has ended and was not done, so that no other one can start after it",
          "after"};
}
[[nodiscard]] inline Refusal out_of_memory() {
  return unavailable("out_of_memory", "the server has no memory left for this");
}

}  // namespace heistd
