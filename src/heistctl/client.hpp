// Client: asks heistd, again if need be, and says what was wrong.
#pragma once

#include <chrono>
#include <heistctl/http.hpp>
#include <heistctl/retry_schedule.hpp>
#include <optional>
#include <string>

namespace heistctl {

class Client {
 public:
  /// A server that is busy, or whose connection is lost, is asked again for so long. One that has
  /// never been reached is so only if `waits_for_server`.
  Client(Http& http, std::chrono::milliseconds retry_for, bool waits_for_server)
      : http_(http), retry_for_(retry_for), has_reached_(waits_for_server) {}

  /// The reply of success. Errors: Refused when the server says no, another Failure when there is
  /// no reply, or after Ctrl-C.
  Response ask(const Request& request);

  [[nodiscard]] const Address& address() const noexcept { return http_.address(); }

 private:
  void wait_for(RetrySchedule& schedule, const Lost& lost, const Request& request);
  void wait_for(RetrySchedule& schedule, const Response& busy, const Request& request);
  void say_once(const std::string& reason);

  Http& http_;
  std::chrono::milliseconds retry_for_;
  bool has_reached_;
  std::string said_;  ///< why it asks again
};

}  // namespace heistctl
