#include <array>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <ctime>
#include <heistd/http_reply.hpp>
#include <utility>

namespace heistd {
namespace {

namespace http = boost::beast::http;

std::string http_date() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 40> text{};
  const auto size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {text.data(), size};
}

Refusal malformed(const boost::beast::error_code& error, std::string field) {
  return {400, "malformed_request", error.message(), std::move(field)};
}

/// Whatever a browser was made to ask for: it guesses no other type, shows nothing to pages of
/// other sites, runs nothing, and keeps nothing.
void add_browser_headers(HttpResponse& response) {
  response.set("X-Content-Type-Options", "nosniff");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
  response.set(http::field::cache_control, "no-store");
}

}  // namespace

HttpResponse make_response(const Reply& reply, unsigned version, bool keep_alive) {
  HttpResponse response(static_cast<http::status>(reply.status), version);
  response.set(http::field::date, http_date());
  response.set(http::field::content_type, reply.content_type);
  add_browser_headers(response);
  for (const auto& [name, value] : reply.headers) response.set(name, value);
  response.body() = reply.body;
  response.keep_alive(keep_alive);
  response.prepare_payload();
  return response;
}

std::optional<Refusal> refusal_of(const boost::beast::error_code& error) {
  if (error.category() != make_error_code(http::error::end_of_stream).category()) {
    return std::nullopt;
  }
  switch (static_cast<http::error>(error.value())) {
    case http::error::end_of_stream:
      return std::nullopt;
    case http::error::partial_message:
      return Refusal{400, "truncated_request", "the request ended too early"};
    case http::error::header_limit:
    case http::error::buffer_overflow:
      return Refusal{431, "header_too_large", "the request's header is too large", "header"};
    case http::error::bad_method:
      return malformed(error, "method");
    case http::error::bad_target:
      return malformed(error, "target");
    case http::error::bad_version:
      return malformed(error, "version");
    case http::error::bad_content_length:
    case http::error::multiple_content_length:
      return malformed(error, "Content-Length");
    case http::error::bad_transfer_encoding:
      return malformed(error, "Transfer-Encoding");
    case http::error::bad_chunk:
    case http::error::bad_chunk_extension:
      return malformed(error, "body");
    default:
      return malformed(error, "header");
  }
}

}  // namespace heistd
