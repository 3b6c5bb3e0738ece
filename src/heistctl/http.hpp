// Http: one request at a time over libcurl.
#pragma once

#include <chrono>
#include <heistctl/address.hpp>
#include <heistctl/sink.hpp>
#include <heistctl/upload.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace heistctl {

struct Request {
  std::string method = "GET";
  std::string target = {};
  Upload* upload = nullptr;    ///< its body
  std::string key = {};        ///< the Idempotency-Key
  Sink* sink = nullptr;        ///< where the body of a reply of success goes
  bool may_take_long = false;  ///< the server says nothing until it is done

  /// Whether it is one job, or one change, however often the server gets it. The second DELETE of a
  /// job that runs would forget that, and that of a signal would be for the next one of its name.
  [[nodiscard]] bool is_repeatable() const noexcept {
    return (method != "POST" && method != "DELETE") || !key.empty();
  }
};

struct Response {
  long status = 0;
  std::optional<std::chrono::seconds> retry_after = {};
  std::string body = {};  ///< what no sink has got
};

/// There is no reply.
struct Lost {
  bool may_have_arrived = false;  ///< the request
  std::string why = {};
};

/// Thread:  one. Blocks: until the reply has come.
class Http {
 public:
  /// With a token, if that is not empty. A server with TLS has to prove its name, by a certificate
  /// of an authority that the system trusts, or of one in the file, if that is not empty.
  Http(Address address, const std::string& token, std::string ca_file);
  ~Http();
  Http(const Http&) = delete;
  Http& operator=(const Http&) = delete;

  [[nodiscard]] const Address& address() const noexcept { return address_; }

  /// Sends a request and shows how far its bytes are, if that takes long. Errors: a Failure after
  /// Ctrl-C, when the upload or the sink fail, or when the server cannot prove its name.
  std::variant<Response, Lost> send(const Request& request);

 private:
  struct Handle;

  Address address_;
  std::string authorization_;
  std::string ca_file_;
  std::unique_ptr<Handle> handle_;
};

}  // namespace heistctl
