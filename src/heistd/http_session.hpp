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
#include <heistd/accepted.hpp>
#include <heistd/api.hpp>
#include <heistd/connections.hpp>
#include <heistd/crossing.hpp>
#include <heistd/deadline.hpp>
#include <heistd/http_reply.hpp>
#include <heistd/job_wait.hpp>
#include <heistd/limits.hpp>
#include <heistd/parsed_head.hpp>
#include <heistd/request_ids.hpp>
#include <heistd/served_names.hpp>
#include <heistd/wire.hpp>
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace heistd {

/// What the connections of a thread share.   Lifetime: longer than theirs.
struct SessionContext {
  Api& api;
  const Limits& limits;
  const ServedNames& names;
  Crossing crossing;
};

/// Reads requests from one connection and writes the answers, one after the other.
///
/// Thread: its connection's; what says so is done on the network's, while nothing else of the
/// session is.
class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(Accepted accepted, const SessionContext& context);

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
  static constexpr std::size_t read_bytes = 8 * kib;
  /// How many bytes of later requests are read ahead while a client waits for its job.
  static constexpr std::size_t read_ahead_bytes = 64 * kib;

  /// What a request is answered with, or by; what waits has the network's thread call wake().
  using Answer = std::variant<Reply, Upload, Away<JobWait>, Observing, Away<Listening>>;
  /// Some of a client's events.
  struct Piece {
    std::string text;
    bool is_last = false;
    bool has_more = false;
  };

  // Arguments are references to what the caller keeps while it waits: g++ 12 destroys some
  // temporaries of a co_await expression twice.
  Awaitable<bool> shake_hands();
  Awaitable<bool> await_request();
  Awaitable<void> serve_request();
  Awaitable<void> serve_head(Parser& parser);
  Awaitable<void> deliver(Answer& answer);
  Awaitable<void> receive(Parser& parser, Upload& upload);
  Awaitable<Error> receive_body(Parser& parser, Upload& upload, std::optional<Refusal>& refusal);
  Awaitable<void> wait_for_job(Away<JobWait>& wait);
  Awaitable<void> wait_for_observation(Observation& observation);
  Awaitable<void> tell_events(Away<Listening>& listening);
  Awaitable<void> send_event_head();
  Awaitable<bool> client_left_before(Time until);
  Awaitable<bool> send_continue();
  Awaitable<void> answer(const Reply& reply);
  Awaitable<void> send(const Reply& reply);
  Awaitable<void> send_rest(ReplyRest& rest);
  Awaitable<bool> send_all(Unsent& unsent);
  Awaitable<bool> send_some(Unsent& unsent);
  Awaitable<void> refuse(const Refusal& refusal);
  Awaitable<void> refuse_read(Error error);
  Awaitable<void> linger();

  // On the network's thread.
  Awaitable<Answer> begin(const RequestHead& head, const Routed& routed, Parser& parser);
  void take_what_has_come(Parser& parser, Upload& upload);
  Awaitable<Answer> finish(Upload& upload);
  Awaitable<Answer> settle(Storing& storing);
  Awaitable<void> wait_for_verdict(const heist::Promise<void>& verdict);
  Answer listen(Listening listening);
  Answer observe(Observing observing);
  Answer answer_of(Api::Outcome outcome);
  Awaitable<Reply> end_wait(JobWait& wait, bool left);
  static Awaitable<void> end_observation(Observation& observation);
  static Awaitable<Piece> next_piece(EventStream& stream, bool is_late);
  Awaitable<std::optional<std::string>> next_of(ReplyRest& rest);
  std::function<void()> waker();

  boost::asio::mutable_buffer room_to_read_ahead();
  std::optional<Refusal> check_head(const Parser& parser) const;
  [[nodiscard]] ReplyFrame reply_frame() const noexcept {
    return {version_, keep_alive_, request_id_};
  }
  void expect_wake() noexcept;
  void wake(std::uint64_t wait);
  void close();
  void give_up();
  void note_head(const Parser& parser);

  Wire wire_;
  Api& api_;
  const Limits& limits_;
  const ServedNames& names_;
  const Crossing crossing_;
  const std::string local_address_;
  boost::beast::flat_buffer buffer_;
  boost::asio::steady_timer finished_;  ///< cancelled when what is waited for has ended
  const std::shared_ptr<Deadline> deadline_;

  RequestIds request_ids_;

  // Of the request under way.
  std::string request_id_;
  unsigned version_ = 11;
  bool is_head_ = false;
  bool keep_alive_ = true;
  bool in_step_ = true;     ///< nothing of the request is left unread
  std::uint64_t wait_ = 0;  ///< the number of what is waited for now
  bool is_woken_ = false;   ///< from that

  bool idle_ = false;
  bool stopping_ = false;
  bool first_request_ = true;

  std::unique_ptr<Connections::Place> place_;  ///< until the socket is closed
};

}  // namespace heistd
