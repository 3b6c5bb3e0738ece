// HttpSession: one connection.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <functional>
#include <heistd/api.hpp>
#include <heistd/connections.hpp>
#include <heistd/deadline.hpp>
#include <heistd/http_reply.hpp>
#include <heistd/limits.hpp>
#include <heistd/parsed_head.hpp>
#include <heistd/request_ids.hpp>
#include <heistd/served_names.hpp>
#include <heistd/stream.hpp>
#include <memory>
#include <optional>

namespace heistd {

/// What all connections share.   Lifetime: longer than theirs.
struct SessionContext {
  Api& api;
  const Limits& limits;
  const ServedNames& names;
  Connections& connections;
};

/// Reads requests from one connection and writes the answers, one after the other.
///
/// Thread: the network's.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(Stream::socket socket, const SessionContext& context);

  /// Serves requests until either side ends the connection.
  boost::asio::awaitable<void> serve();

  /// Ends the connection after the request under way, if there is one.
  void stop() noexcept;

 private:
  using Parser = RequestParser;
  using Error = boost::beast::error_code;
  using Time = std::chrono::steady_clock::time_point;
  template <class T>
  using Awaitable = boost::asio::awaitable<T>;
  static constexpr auto as_tuple = boost::asio::as_tuple(boost::asio::use_awaitable);
  /// How many bytes are read at a time, but for those of an upload.
  static constexpr std::size_t read_bytes = 4 * kib;
  /// How many bytes of later requests are read ahead while a client waits for its job.
  static constexpr std::size_t read_ahead_bytes = 64 * kib;

  // Arguments are references to what the caller keeps while it waits: g++ 12 destroys some
  // temporaries of a co_await expression twice.
  Awaitable<bool> await_request();
  Awaitable<void> serve_request();
  Awaitable<void> serve_head(Parser& parser);
  Awaitable<void> wait_for_verdict(const heist::Promise<void>& verdict);
  Awaitable<void> receive(Parser& parser, Upload& upload);
  Awaitable<Error> receive_body(Parser& parser, Upload& upload, std::optional<Refusal>& refusal);
  Awaitable<void> wait_until_stored(const Storing& storing);
  Awaitable<void> wait_for_job(Waiting& waiting);
  Awaitable<void> wait_for_observation(Observation& observation);
  Awaitable<void> tell_events(EventStream& stream);
  Awaitable<void> send_event_head();
  Awaitable<bool> send_text(const std::string& text);
  Awaitable<bool> client_left_before(const std::function<bool()>& finished, Time until);
  Awaitable<void> send_continue();
  Awaitable<void> answer(const Reply& reply);
  Awaitable<void> send(const Reply& reply);
  Awaitable<void> send_response(HttpResponse& response, bool head_only);
  Awaitable<void> refuse(const Refusal& refusal);
  Awaitable<void> refuse_read(Error error);
  Awaitable<void> linger();

  boost::asio::mutable_buffer room_to_read_ahead();
  std::optional<Refusal> check_head(const Parser& parser) const;
  void close_at_once();
  void give_up();
  void note_head(const Parser& parser);

  Stream::socket socket_;
  Api& api_;
  const Limits& limits_;
  const ServedNames& names_;
  const boost::asio::ip::address local_address_;
  boost::beast::flat_buffer buffer_;
  boost::asio::steady_timer finished_;  ///< cancelled when what is waited for has ended
  const std::shared_ptr<Deadline> deadline_;

  RequestIds request_ids_;

  // Of the request under way.
  std::string request_id_;
  unsigned version_ = 11;
  bool is_head_ = false;
  bool keep_alive_ = true;
  bool in_step_ = true;  ///< nothing of the request is left unread

  bool idle_ = false;
  bool stopping_ = false;
  bool first_request_ = true;

  Connections::Place place_;
};

}  // namespace heistd
