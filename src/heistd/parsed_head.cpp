#include <heistd/parsed_head.hpp>
#include <string_view>

namespace heistd {
namespace {

namespace http = boost::beast::http;

std::optional<std::string_view> field_of(const auto& message, const auto& name) {
  const auto found = message.find(name);
  if (found == message.end()) return std::nullopt;
  return found->value();
}

}  // namespace

std::optional<Refusal> check_framing(const RequestParser& parser) {
  const auto& message = parser.get();
  if (message.version() == 11 && message.count(http::field::host) != 1) {
    return Refusal{400, "malformed_request", "exactly one Host header is needed", "Host"};
  }
  const auto encodings = message.count(http::field::transfer_encoding);
  if (encodings > 0 && (encodings > 1 || !boost::beast::iequals(
                                             message[http::field::transfer_encoding], "chunked"))) {
    return Refusal{501, "unsupported_encoding", "the only transfer encoding here is chunked",
                   "Transfer-Encoding"};
  }
  const auto expectation = message[http::field::expect];
  if (!expectation.empty() && !boost::beast::iequals(expectation, "100-continue")) {
    return Refusal{417, "expectation_failed", "the only expectation met is 100-continue", "Expect"};
  }
  return std::nullopt;
}

Sender sender_of(const RequestParser& parser) {
  const auto& message = parser.get();
  Sender sender;
  sender.target = message.target();
  sender.host = field_of(message, http::field::host);
  sender.origin = field_of(message, http::field::origin);
  sender.fetch_site = field_of(message, "Sec-Fetch-Site");
  return sender;
}

RequestHead head_of(const RequestParser& parser) {
  const auto& message = parser.get();
  RequestHead head;
  head.method = message.method_string();
  head.target = message.target();
  head.authorization = field_of(message, http::field::authorization);
  head.idempotency_key = field_of(message, "Idempotency-Key");
  head.last_event_id = field_of(message, "Last-Event-ID");
  if (message.count(http::field::range) == 1) head.range = field_of(message, http::field::range);
  head.if_range = field_of(message, http::field::if_range);
  if (parser.content_length()) head.content_length = *parser.content_length();
  head.chunked = parser.chunked();
  return head;
}

std::string_view request_id_of(const RequestParser& parser) {
  return field_of(parser.get(), "X-Request-Id").value_or(std::string_view());
}

}  // namespace heistd
