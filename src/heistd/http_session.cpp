#include <algorithm>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <heistd/addresses.hpp>
#include <heistd/guarded.hpp>
#include <heistd/http_session.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/pace.hpp>
#include <heistd/parsed_head.hpp>
#include <new>
#include <span>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

/// How long a closing connection is read from, so that the client gets to see the last answer.
constexpr std::chrono::seconds linger_time{2};
/// Where the upload's next bytes go; without memory, a refusal.
Result<std::span<char>> room_in(Upload& upload) {
  try {
    return upload.room();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

}  // namespace

HttpSession::HttpSession(Stream::socket socket, const SessionContext& context)
    : socket_(std::move(socket)),
      api_(context.api),
      limits_(context.limits),
      names_(context.names),
      local_address_(local_address(socket_)),
      buffer_(limits_.max_header + read_ahead_bytes),
      finished_(socket_.get_executor()),
      deadline_(std::make_shared<Deadline>(socket_)),
      place_(context.connections, network_of(socket_, limits_.limit_loopback),
             [this] { close_at_once(); }) {}

asio::awaitable<void> HttpSession::serve() {
  while (keep_alive_ && !stopping_) {
    const bool came = co_await await_request();
    if (!came) break;
    co_await serve_request();
    place_.end();
  }
  if (!in_step_) co_await linger();
  close_at_once();
}

void HttpSession::stop() noexcept {
  stopping_ = true;
  boost::system::error_code closed;  // when it has just made room for another connection
  if (idle_) socket_.cancel(closed);
}

/// Waits for the first bytes of a request; false when none will come. Whoever connects is expected
/// to say something soon.
asio::awaitable<bool> HttpSession::await_request() {
  const bool first = std::exchange(first_request_, false);
  if (buffer_.size() > 0) co_return true;
  deadline_->set(first ? std::min(limits_.header_timeout, limits_.idle_timeout)
                       : limits_.idle_timeout);
  idle_ = true;
  const auto room = buffer_.prepare(read_bytes);
  const auto [error, bytes] = co_await socket_.async_read_some(room, as_tuple);
  idle_ = false;
  buffer_.commit(bytes);
  co_return !error;
}

asio::awaitable<void> HttpSession::serve_request() {
  Parser parser;
  parser.header_limit(static_cast<std::uint32_t>(limits_.max_header));
  parser.body_limit(boost::none);  // the upload has its own
  in_step_ = false;
  deadline_->set(limits_.header_timeout);
  const auto [error, bytes] = co_await http::async_read_header(socket_, buffer_, parser, as_tuple);
  note_head(parser);
  if (error) {
    co_await refuse_read(error);
  } else {
    co_await serve_head(parser);
  }
}

void HttpSession::note_head(const Parser& parser) {
  const bool known = parser.is_header_done();
  version_ = known && parser.get().version() < 11 ? 10 : 11;
  is_head_ = known && parser.get().method() == http::verb::head;
  keep_alive_ = known && parser.get().keep_alive() && !stopping_;
  request_id_ = request_ids_.next(known ? request_id_of(parser) : std::string_view());
}

std::optional<Refusal> HttpSession::check_head(const Parser& parser) const {
  if (auto refusal = check_framing(parser)) return refusal;
  return names_.check(sender_of(parser), local_address_.to_string());
}

asio::awaitable<void> HttpSession::serve_head(Parser& parser) {
  const auto refusal = check_head(parser);
  if (refusal) {
    keep_alive_ = false;
    co_await refuse(*refusal);
    co_return;
  }
  RequestHead head = head_of(parser);
  head.place = &place_;
  head.request_id = request_id_;
  auto step = guarded([&] { return api_.begin(head); });
  if (const auto* checking = std::get_if<Checking>(&step)) {
    co_await wait_for_verdict(checking->verdict);
    step = guarded([&] { return api_.begin(head, Unchecked::accept); });
  }
  if (auto* upload = std::get_if<Upload>(&step)) {
    co_await receive(parser, *upload);
    co_return;
  }
  in_step_ = !head.has_body();
  keep_alive_ = keep_alive_ && in_step_;
  if (const auto* observing = std::get_if<Observing>(&step)) {
    co_await wait_for_observation(*observing->observation);
  } else if (const auto* storing = std::get_if<Storing>(&step)) {
    co_await wait_until_stored(*storing);
  } else if (auto* waiting = std::get_if<Waiting>(&step)) {
    co_await wait_for_job(*waiting);
  } else if (const auto* listening = std::get_if<Listening>(&step)) {
    co_await tell_events(*listening->stream);
  } else {
    co_await answer(std::get<Reply>(step));
  }
}

asio::awaitable<void> HttpSession::receive(Parser& parser, Upload& upload) {
  const bool expects_continue = !parser.get()[http::field::expect].empty() && version_ == 11;
  if (expects_continue && buffer_.size() == 0) co_await send_continue();
  std::optional<Refusal> refusal;
  const auto error = co_await receive_body(parser, upload, refusal);
  if (refusal) {
    keep_alive_ = false;
    co_await refuse(*refusal);
    co_return;
  }
  if (error) {
    co_await refuse_read(error);
    co_return;
  }
  in_step_ = true;
  auto step = guarded([&] { return api_.finish(std::move(upload)); });
  if (auto* waiting = std::get_if<Waiting>(&step)) {
    co_await wait_for_job(*waiting);
  } else if (const auto* storing = std::get_if<Storing>(&step)) {
    co_await wait_until_stored(*storing);
  } else {
    co_await answer(std::get<Reply>(step));
  }
}

asio::awaitable<void> HttpSession::send_continue() {
  static constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  deadline_->set(limits_.idle_timeout);
  const auto buffer = asio::buffer(text.data(), text.size());
  // A failure shows in the next read as well.
  co_await asio::async_write(socket_, buffer, as_tuple);
}

asio::awaitable<HttpSession::Error> HttpSession::receive_body(Parser& parser, Upload& upload,
                                                              std::optional<Refusal>& refusal) {
  const auto start = Clock::now();
  const Pace pace(limits_, start, start + limits_.body_timeout);
  std::uint64_t received = 0;
  while (!parser.is_done() && !refusal) {
    const auto room = room_in(upload);
    if (!room) {
      refusal = room.error();
      break;
    }
    auto& body = parser.get().body();
    body.data = room->data();
    body.size = room->size();
    deadline_->set(pace.deadline(Clock::now(), received));
    const auto [error, bytes] = co_await http::async_read_some(socket_, buffer_, parser, as_tuple);
    const auto came = room->size() - body.size;
    received += came;
    refusal = upload.commit(came);
    if (error && error != http::error::need_buffer) co_return error;
  }
  co_return Error();
}

/// Sends the reply, unless too much is on its way to the client already.
asio::awaitable<void> HttpSession::answer(const Reply& reply) {
  std::optional<Outgoing::Hold> hold = Outgoing::Hold();
  if (place_.client() != nullptr && !is_head_ && reply.body.shared) {
    hold = place_.client()->outgoing.hold(reply.body.shared);
  }
  if (hold) {
    co_await send(reply);
    co_return;
  }
  auto refused = make_reply(
      unavailable("too_much_unread", "this client has not read too many results already"));
  for (const auto& header : reply.headers) refused.headers.push_back(header);
  co_await send(refused);
}

asio::awaitable<void> HttpSession::send(const Reply& reply) {
  keep_alive_ = keep_alive_ && !stopping_;
  auto response = make_response(reply, version_, keep_alive_);
  response.set("X-Request-Id", request_id_);
  co_await send_response(response, is_head_);
}

asio::awaitable<void> HttpSession::send_response(HttpResponse& response, bool head_only) {
  http::response_serializer<BlocksBody> serializer(response);
  serializer.split(head_only);
  auto& sending = deadline_->begin_sending(limits_);
  // The system takes a piece at a time, as the socket's buffer is small.
  while (head_only ? !serializer.is_header_done() : !serializer.is_done()) {
    static_cast<void>(sending.gets_on());
    deadline_->set(sending.deadline(Clock::now()));
    const auto [error, bytes] = co_await http::async_write_some(socket_, serializer, as_tuple);
    sending.add(bytes);
    if (error) {
      give_up();
      break;
    }
  }
  deadline_->end_sending();
}

asio::awaitable<void> HttpSession::refuse(const Refusal& refusal) {
  const auto reply = make_reply(refusal);
  co_await answer(reply);
}

/// Answers what could not be read, where there is an answer.
asio::awaitable<void> HttpSession::refuse_read(Error error) {
  keep_alive_ = false;
  auto refusal = refusal_of(error);
  if (error == asio::error::operation_aborted && deadline_->has_passed()) {
    refusal = Refusal{408, "timeout", "the request came too slowly, or stopped"};
  }
  if (refusal) {
    co_await refuse(*refusal);
  } else {
    in_step_ = true;
  }
}

/// Closes our end and reads on for a while: closing with bytes unread would reset the connection,
/// and the client might never see the answer.
asio::awaitable<void> HttpSession::linger() {
  Error ignored;
  socket_.shutdown(Stream::socket::shutdown_send, ignored);
  buffer_.clear();
  const auto until = Clock::now() + linger_time;
  bool open = true;
  while (open && Clock::now() < until) {
    deadline_->set(linger_time);
    const auto room = buffer_.prepare(read_bytes);
    const auto [error, bytes] = co_await socket_.async_read_some(room, as_tuple);
    open = !error;
  }
}

/// Ends whatever the session waits for, and all that follows.
void HttpSession::close_at_once() {
  keep_alive_ = false;
  in_step_ = true;
  deadline_->cancel();
  Error ignored;
  socket_.close(ignored);
}

/// Nobody reads what we say: the connection is reset, or the system would keep it all.
void HttpSession::give_up() {
  keep_alive_ = false;
  in_step_ = true;
  Error ignored;
  socket_.set_option(Stream::socket::linger(true, 0), ignored);
}

}  // namespace heistd
