// A connection on which a client listens to its events.
#include <boost/asio/write.hpp>
#include <heistd/events/event_stream.hpp>
#include <heistd/http_session.hpp>
#include <new>
#include <string>
#include <string_view>

namespace heistd {

namespace asio = boost::asio;

namespace {

/// For a connection on which nothing has happened for a while.
constexpr std::string_view heartbeat = ": still here\n\n";

/// Empty without memory.
std::string next_text(EventStream& stream) noexcept {
  try {
    return stream.has_more() ? stream.take() : std::string(heartbeat);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

}  // namespace

/// The connection ends with the stream, which has no length. A reader that takes nothing for as
/// long as a reply may stand still is closed; what comes up meanwhile is kept in the log of its
/// client, and not for it.
asio::awaitable<void> HttpSession::tell_events(EventStream& stream) {
  keep_alive_ = false;
  stream.on_more = [self = weak_from_this()] {
    if (const auto session = self.lock()) session->finished_.cancel();
  };
  const std::function<bool()> has_more = [&stream] { return stream.has_more(); };
  co_await send_event_head();
  bool open = !is_head_ && socket_.is_open();
  while (open) {
    deadline_->clear();
    // Half of the time after which others take a silent connection for a dead one.
    const bool left =
        co_await client_left_before(has_more, Clock::now() + limits_.idle_timeout / 2);
    if (left) co_return;
    const auto text = next_text(stream);
    const bool sent = co_await send_text(text);
    open = sent && !text.empty() && !stream.has_ended();
  }
}

asio::awaitable<void> HttpSession::send_event_head() {
  Reply reply;
  reply.content_type = "text/event-stream";
  auto response = make_response(reply, version_, keep_alive_);
  response.erase(boost::beast::http::field::content_length);
  co_await send_response(response, true);
}

/// False when the client does not take it.
asio::awaitable<bool> HttpSession::send_text(const std::string& text) {
  auto& sending = deadline_->begin_sending(limits_);
  std::size_t sent = 0;
  while (sent < text.size()) {
    static_cast<void>(sending.gets_on());
    deadline_->set(sending.deadline(Clock::now()));
    const auto rest = asio::buffer(text.data() + sent, text.size() - sent);
    const auto [error, bytes] = co_await socket_.async_write_some(rest, as_tuple);
    sending.add(bytes);
    sent += bytes;
    if (error) break;
  }
  deadline_->end_sending();
  if (sent < text.size()) give_up();
  co_return sent == text.size();
}

}  // namespace heistd
