// Reply: what a request is answered with.
#pragma once

#include <cstdint>
#include <heist/promise.hpp>
#include <heistd/blocks.hpp>
#include <heistd/refusal.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heistd {

/// What comes behind a reply's body, and is read while that is sent.
class ReplyRest {
 public:
  ReplyRest() = default;
  ReplyRest(const ReplyRest&) = delete;
  ReplyRest& operator=(const ReplyRest&) = delete;
  virtual ~ReplyRest() = default;

  /// How many bytes are still to be asked for.   Thread: whose turn it is.
  [[nodiscard]] virtual std::uint64_t bytes() const noexcept = 0;
  /// The next of them; nothing when they cannot be had any more.   Thread: the network's.
  /// Errors: std::bad_alloc.
  [[nodiscard]] virtual heist::Promise<std::optional<std::string>> next() = 0;
};

struct Reply {
  unsigned status = 200;
  std::string content_type = "application/json";
  Body body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::shared_ptr<ReplyRest> rest = nullptr;  ///< null: the body is all

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return body.size() + (rest ? rest->bytes() : 0);
  }
};

/// `{"error": {"code", "message", "field"?}}`, with the headers that belong to the status.
[[nodiscard]] Reply make_reply(const Refusal& refusal);

}  // namespace heistd
