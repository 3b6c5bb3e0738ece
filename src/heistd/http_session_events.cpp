// A connection on which a client listens to its events.
#include <heistd/events/event_stream.hpp>
#include <heistd/http_session.hpp>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

namespace heistd {

namespace asio = boost::asio;

namespace {

/// For a connection on which nothing has happened for a while.
constexpr std::string_view heartbeat = ": still here\n\n";

}  // namespace

/// Without memory it is the last one.
asio::awaitable<HttpSession::Piece> HttpSession::next_piece(EventStream& stream, bool is_late) {
  Piece piece;
  try {
    if (stream.has_more()) {
      piece.text = stream.take();
    } else if (is_late) {
      piece.text = heartbeat;
    }
    piece.is_last = stream.has_ended();
    piece.has_more = stream.has_more();
  } catch (const std::bad_alloc&) {
    piece.is_last = true;
  }
  co_return piece;
}

/// The connection ends with the stream, which has no length. A reader that takes nothing for as
/// long as a reply may stand still is closed; what comes up meanwhile is kept in the log of its
/// client, and not for it.
asio::awaitable<void> HttpSession::tell_events(Away<Listening>& listening) {
  keep_alive_ = false;
  auto& stream = *listening->stream;
  co_await send_event_head();
  is_woken_ = true;
  bool open = !is_head_ && wire_.socket().is_open();
  while (open) {
    deadline_->clear();
    // Half of the time after which others take a silent connection for a dead one.
    const bool left = co_await client_left_before(Clock::now() + limits_.idle_timeout / 2);
    if (left) co_return;
    const bool is_late = !std::exchange(is_woken_, false);
    auto taken = next_piece(stream, is_late);
    auto called = crossing_.call(taken);
    const auto piece = co_await std::move(called);
    if (piece.has_more) is_woken_ = true;
    auto unsent = unsent_of(piece.text, {});
    const bool sent = co_await send_all(unsent);
    open = sent && !piece.is_last;
  }
}

asio::awaitable<void> HttpSession::send_event_head() {
  Reply reply;
  reply.content_type = "text/event-stream";
  const auto head = head_text(reply, reply_frame(), std::nullopt);
  auto unsent = unsent_of(head, reply.body);
  co_await send_all(unsent);
}

}  // namespace heistd
