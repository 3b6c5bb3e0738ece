// How a Reply becomes an HTTP response, and a parser's error a Refusal.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_suffix.hpp>
#include <boost/beast/core/error.hpp>
#include <cstddef>
#include <heistd/blocks.hpp>
#include <heistd/reply.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heistd {

/// What a head says besides its reply.
struct ReplyFrame {
  unsigned version;  ///< of HTTP: 10 or 11
  bool keep_alive;
  std::string_view request_id;  ///< empty: no request has been read
};

/// The head of a reply as it is sent. Without a length the body goes on until the connection ends.
///
/// Thread: any, as all of this.   Errors: std::bad_alloc.
[[nodiscard]] std::string head_text(const Reply& reply, const ReplyFrame& frame,
                                    std::optional<std::size_t> length);

/// What is still to be sent.
using Unsent = boost::beast::buffers_suffix<std::vector<boost::asio::const_buffer>>;

/// The head and, from shared blocks as they are, the body.   Lifetime: within both.   Errors:
/// std::bad_alloc.
[[nodiscard]] Unsent unsent_of(const std::string& head, const Body& body);

/// What to tell a client whose request could not be read; nothing when there is nobody to tell.
[[nodiscard]] std::optional<Refusal> refusal_of(const boost::beast::error_code& error);

}  // namespace heistd
