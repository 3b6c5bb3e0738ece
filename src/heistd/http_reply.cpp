#include <algorithm>
#include <array>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>
#include <ctime>
#include <heistd/http_reply.hpp>
#include <string_view>
#include <utility>

namespace heistd {
namespace {

namespace http = boost::beast::http;

/// Made anew each second.
const std::string& http_date() {
  thread_local std::time_t made_at = 0;
  thread_local std::string text;
  const auto now = std::time(nullptr);
  if (std::exchange(made_at, now) == now) return text;
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 40> date{};
  const auto size = std::strftime(date.data(), date.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  text.assign(date.data(), size);
  return text;
}

Refusal malformed(const boost::beast::error_code& error, std::string field) {
  return {400, "malformed_request", error.message(), std::move(field)};
}

void add(std::string& head, std::string_view name, std::string_view value) {
  head.append(name).append(": ").append(value).append("\r\n");
}

/// Whatever a browser was made to ask for: it guesses no other type, shows nothing to pages of
/// other sites, runs nothing, and keeps nothing.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> browser_headers{
    {{"X-Content-Type-Options", "nosniff"},
     {"Cross-Origin-Resource-Policy", "same-origin"},
     {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
     {"Cache-Control", "no-store"}}};

/// Those of the reply go before others of the same name.
void add_headers(std::string& head, const Reply& reply) {
  for (const auto& [name, value] : browser_headers) {
    const auto is_it = [&](const auto& header) { return header.first == name; };
    if (std::ranges::none_of(reply.headers, is_it)) add(head, name, value);
  }
  for (const auto& [name, value] : reply.headers) add(head, name, value);
}

/// What the version does not take for granted.
void add_connection(std::string& head, unsigned version, bool keep_alive) {
  if (keep_alive && version < 11) add(head, "Connection", "keep-alive");
  if (!keep_alive && version >= 11) add(head, "Connection", "close");
}

}  // namespace

std::string head_text(const Reply& reply, const ReplyFrame& frame,
                      std::optional<std::size_t> length) {
  constexpr std::size_t usual_bytes = 512;
  std::string head;
  head.reserve(usual_bytes);
  head.append(frame.version < 11 ? "HTTP/1.0 " : "HTTP/1.1 ").append(std::to_string(reply.status));
  const auto reason = http::obsolete_reason(static_cast<http::status>(reply.status));
  head.append(" ").append(reason.data(), reason.size()).append("\r\n");
  add(head, "Date", http_date());
  add(head, "Content-Type", reply.content_type);
  add_headers(head, reply);
  if (!frame.request_id.empty()) add(head, "X-Request-Id", frame.request_id);
  add_connection(head, frame.version, frame.keep_alive);
  if (length) add(head, "Content-Length", std::to_string(*length));
  return head.append("\r\n");
}

Unsent unsent_of(const std::string& head, const Body& body) {
  std::vector<boost::asio::const_buffer> buffers{boost::asio::buffer(head)};
  auto skipped = body.part ? body.part->offset : 0;
  auto left = body.size();
  const auto add_text = [&](std::string_view text) {
    const auto unwanted = std::min<std::uint64_t>(skipped, text.size());
    skipped -= unwanted;
    text = text.substr(unwanted, left);
    left -= text.size();
    if (!text.empty()) buffers.push_back(boost::asio::buffer(text));
  };
  add_text(body.before);
  if (body.shared) std::ranges::for_each(*body.shared, add_text);
  add_text(body.after);
  return Unsent(buffers);
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
