// What Beast has parsed of a request's head, for who judges it.
#pragma once

#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <heistd/api.hpp>
#include <heistd/refusal.hpp>
#include <heistd/served_names.hpp>
#include <optional>

namespace heistd {

using RequestParser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;

/// Why a request that came so cannot be served, whatever it asks for.
///
/// Errors: 400 "malformed_request", 501 "unsupported_encoding", 417 "expectation_failed".
[[nodiscard]] std::optional<Refusal> check_framing(const RequestParser& parser);

/// Lifetime, also below: of the parser.
[[nodiscard]] Sender sender_of(const RequestParser& parser);
[[nodiscard]] RequestHead head_of(const RequestParser& parser);
/// What the client calls its request; empty if it does not.
[[nodiscard]] std::string_view request_id_of(const RequestParser& parser);

}  // namespace heistd
