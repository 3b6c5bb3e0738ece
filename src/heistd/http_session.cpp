#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>
#include <heistd/addresses.hpp>
#include <heistd/guarded.hpp>
#include <heistd/http_session.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/pace.hpp>
#include <heistd/parsed_head.hpp>
#include <iterator>
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

HttpSession::HttpSession(Accepted accepted, const SessionContext& context)
    : wire_(std::move(accepted.socket), accepted.identity),
      api_(context.api),
      limits_(context.limits),
      names_(context.names),
      crossing_(context.crossing),
      local_address_(local_address(wire_.socket()).to_string()),
      buffer_(limits_.max_header + read_ahead_bytes),
      finished_(wire_.get_executor()),
      deadline_(std::make_shared<Deadline>(wire_.socket())),
      place_(std::move(accepted.place)) {}

asio::awaitable<void> HttpSession::serve() {
  bool is_ready = true;
  if (wire_.has_tls()) is_ready = co_await shake_hands();
  while (is_ready && keep_alive_ && !stopping_) {
    const bool came = co_await await_request();
    if (!came) break;
    co_await serve_request();
    place_->end();
  }
  if (!in_step_) co_await linger();
  close();
}

void HttpSession::stop() noexcept {
  stopping_ = true;
  boost::system::error_code ignored;
  if (idle_) wire_.socket().cancel(ignored);
}

/// False when the client does not agree on keys in time. One that speaks HTTP without TLS is told.
asio::awaitable<bool> HttpSession::shake_hands() {
  deadline_->set(std::min(limits_.header_timeout, limits_.idle_timeout));
  idle_ = true;
  const auto [error, none] = co_await wire_.async_handshake(as_tuple);
  idle_ = false;
  if (!error) co_return true;
  // What the client has been told about its mistake is to reach it.
  in_step_ = error != boost::system::errc::protocol_error;
  keep_alive_ = false;
  const auto refusal = Refusal{400, "tls_required", "this server speaks TLS: ask it by https://"};
  if (wire_.fall_back()) co_await refuse(refusal);
  co_return false;
}

/// Waits for the first bytes of a request; false when none will come. Whoever connects is expected
/// to say something soon.
asio::awaitable<bool> HttpSession::await_request() {
  const bool first = std::exchange(first_request_, false);
  if (buffer_.size() > 0) {
    // Other connections' turn: what is here already is answered without an event.
    auto turn = asio::post(wire_.get_executor(), asio::use_awaitable);
    co_await std::move(turn);
    co_return true;
  }
  deadline_->set(first ? std::min(limits_.header_timeout, limits_.idle_timeout)
                       : limits_.idle_timeout);
  idle_ = true;
  const auto room = buffer_.prepare(read_bytes);
  const auto [error, bytes] = co_await wire_.async_read_some(room, as_tuple);
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
  Error error;
  buffer_.consume(parser.put(buffer_.data(), error));  // mostly it has come in one piece
  if (error == http::error::need_more) {
    const auto [failure, bytes] =
        co_await http::async_read_header(wire_, buffer_, parser, as_tuple);
    error = failure;
  }
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
  auto sender = sender_of(parser);
  sender.has_tls = wire_.has_tls();
  return names_.check(sender, local_address_);
}

asio::awaitable<void> HttpSession::serve_head(Parser& parser) {
  const auto refusal = check_head(parser);
  if (refusal) {
    keep_alive_ = false;
    co_await refuse(*refusal);
    co_return;
  }
  RequestHead head = head_of(parser);
  head.place = place_.get();
  head.request_id = request_id_;
  auto routing = guarded([&] { return api_.route(head); });
  if (const auto* reply = std::get_if<Reply>(&routing)) {
    in_step_ = !head.has_body();
    keep_alive_ = keep_alive_ && in_step_;
    co_await answer(*reply);
    co_return;
  }
  expect_wake();
  auto begun = begin(head, std::get<Routed>(routing), parser);
  auto called = crossing_.call(begun);
  auto outcome = co_await std::move(called);
  if (auto* upload = std::get_if<Upload>(&outcome)) {
    co_await receive(parser, *upload);
    co_return;
  }
  in_step_ = !head.has_body() || parser.is_done();
  keep_alive_ = keep_alive_ && in_step_;
  co_await deliver(outcome);
}

asio::awaitable<void> HttpSession::deliver(Answer& answer) {
  if (auto* const wait = std::get_if<Away<JobWait>>(&answer)) {
    co_await wait_for_job(*wait);
  } else if (const auto* const observing = std::get_if<Observing>(&answer)) {
    co_await wait_for_observation(*observing->observation);
  } else if (auto* const listening = std::get_if<Away<Listening>>(&answer)) {
    co_await tell_events(*listening);
  } else {
    co_await this->answer(std::get<Reply>(answer));
  }
}

asio::awaitable<void> HttpSession::receive(Parser& parser, Upload& upload) {
  const bool expects_continue = !parser.get()[http::field::expect].empty() && version_ == 11;
  if (expects_continue && buffer_.size() == 0) {
    const bool is_sent = co_await send_continue();
    if (!is_sent) co_return;
  }
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
  expect_wake();
  auto finished = finish(upload);
  auto called = crossing_.call(finished);
  auto outcome = co_await std::move(called);
  co_await deliver(outcome);
}

/// False when the client does not take it.
asio::awaitable<bool> HttpSession::send_continue() {
  static constexpr std::string_view text = "HTTP/1.1 100 Continue\r\n\r\n";
  Unsent unsent(std::vector<asio::const_buffer>{asio::buffer(text.data(), text.size())});
  co_return co_await send_all(unsent);
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
    const auto [error, bytes] = co_await http::async_read_some(wire_, buffer_, parser, as_tuple);
    const auto came = room->size() - body.size;
    received += came;
    refusal = upload.commit(came);
    if (error && error != http::error::need_buffer) co_return error;
  }
  co_return Error();
}

/// A small body often comes with its head, and is not worth another way between the threads. Errors
/// leave it to receive().
void HttpSession::take_what_has_come(Parser& parser, Upload& upload) {
  const auto length = parser.content_length();
  if (!length || *length > std::min(read_bytes, buffer_.size())) return;
  if (!parser.get()[http::field::expect].empty()) return;
  while (!parser.is_done()) {
    const auto room = room_in(upload);
    if (!room) return;
    auto& body = parser.get().body();
    body.data = room->data();
    body.size = room->size();
    Error error;
    buffer_.consume(parser.put(buffer_.data(), error));
    const auto refusal = upload.commit(room->size() - body.size);
    if (refusal || (error && error != http::error::need_buffer)) return;
  }
}

/// Sends the reply, unless too much is on its way to the client already.
asio::awaitable<void> HttpSession::answer(const Reply& reply) {
  std::optional<Outgoing::Hold> hold = Outgoing::Hold();
  if (!is_head_ && reply.body.shared) {
    if (auto* const client = place_->client()) hold = client->outgoing.hold(reply.body.shared);
  }
  if (hold) {
    co_await send(reply);
    co_return;
  }
  auto refused = make_reply(
      unavailable("too_much_unread", "this client has not read too many results already"));
  // Where the job is still holds; what is said of a part does not.
  std::ranges::copy_if(reply.headers, std::back_inserter(refused.headers),
                       [](const auto& header) { return header.first == "Location"; });
  co_await send(refused);
}

asio::awaitable<void> HttpSession::send(const Reply& reply) {
  keep_alive_ = keep_alive_ && !stopping_;
  const auto head = head_text(reply, reply_frame(), reply.bytes());
  static const Body none;
  auto unsent = unsent_of(head, is_head_ ? none : reply.body);
  const bool has_rest = reply.rest && !is_head_;
  if (has_rest) deadline_->begin_sending(limits_);
  const bool is_sent = co_await send_some(unsent);
  if (is_sent && has_rest) co_await send_rest(*reply.rest);
  deadline_->end_sending();
}

/// Each piece is asked for when the one before has gone, and the client is excused until it comes.
/// When one cannot be had, the connection ends, as the client has been told a length.
asio::awaitable<void> HttpSession::send_rest(ReplyRest& rest) {
  bool is_sent = true;
  while (is_sent && rest.bytes() > 0) {
    deadline_->clear();
    const auto asked_at = Clock::now();
    auto next = next_of(rest);
    auto called = crossing_.call(next);
    const auto piece = co_await std::move(called);
    if (!piece) co_return give_up();
    deadline_->begin_sending(limits_).excuse(Clock::now() - asked_at);
    auto unsent = unsent_of(*piece, {});
    is_sent = co_await send_some(unsent);
  }
}

/// False when the client does not take it.
asio::awaitable<bool> HttpSession::send_all(Unsent& unsent) {
  const bool is_sent = co_await send_some(unsent);
  deadline_->end_sending();
  co_return is_sent;
}

/// Sends this much of a reply, of which more may follow. Mostly the system takes all at once, which
/// needs neither a deadline nor an event. Else it takes a piece at a time, as the socket's buffer
/// is small.
asio::awaitable<bool> HttpSession::send_some(Unsent& unsent) {
  Error error;
  const auto at_once = wire_.write_some(unsent, error);
  unsent.consume(at_once);
  if (error == asio::error::would_block) error = {};
  if (!error && asio::buffer_size(unsent) == 0 && !deadline_->is_sending()) co_return true;
  auto& sending = deadline_->begin_sending(limits_);
  sending.add(at_once);
  while (!error && asio::buffer_size(unsent) > 0) {
    static_cast<void>(sending.gets_on());
    deadline_->set(sending.deadline(Clock::now()));
    const auto [failure, bytes] = co_await wire_.async_write_some(unsent, as_tuple);
    sending.add(bytes);
    unsent.consume(bytes);
    error = failure;
  }
  if (error) give_up();
  co_return !error;
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
  wire_.end_sending();
  buffer_.clear();
  const auto until = Clock::now() + linger_time;
  bool open = true;
  while (open && Clock::now() < until) {
    deadline_->set(linger_time);
    const auto room = buffer_.prepare(read_bytes);
    const auto [error, bytes] = co_await wire_.socket().async_read_some(room, as_tuple);
    open = !error;
  }
}

/// Without a place nobody evicts a connection that gets the same descriptor.
void HttpSession::close() {
  place_.reset();
  deadline_->cancel();
  wire_.close();
}

/// Nobody reads what we say: the connection is reset, or the system would keep it all.
void HttpSession::give_up() {
  keep_alive_ = false;
  in_step_ = true;
  wire_.give_up();
}

}  // namespace heistd
