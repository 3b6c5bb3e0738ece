// RequestIds: how a request is called in its reply, in the descriptions of its jobs and in the log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heistd {

/// The names of the requests of one connection.
///
/// Thread: its session's.
class RequestIds {
 public:
  /// The client's own name where that can be one (see is_request_id()), and else one that no other
  /// request has.   Errors: std::bad_alloc.
  [[nodiscard]] std::string next(std::string_view own);

 private:
  std::string connection_;  ///< random, once it is needed
  std::uint64_t count_ = 0;
};

/// Whether a text can be the name of a request: 1 to 64 letters, digits, and ". _ -".
[[nodiscard]] bool is_request_id(std::string_view text) noexcept;

}  // namespace heistd
