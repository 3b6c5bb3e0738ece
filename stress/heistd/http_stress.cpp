// Bytes that are no good HTTP, or no good requests, over real sockets to a server in this process.
//
// I1  The server does not end by them.
// I2  It answers, or closes the connection: what was sent is followed by the end of what it says,
//     and not one reply is a 500.
// I3  Meanwhile another client asks for its health over a connection of its own, and gets it, each
//     time.
// I4  When told to end, it ends.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/server.hpp>
#include <latch>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "../support/stress_run.hpp"
#include "http_requests.hpp"

namespace {

using namespace heist::detail;
using namespace heist::stress;
using namespace heistd;

Options server_options() {
  using std::chrono::milliseconds;
  Options options;
  options.port = 0;
  options.agents = 2;
  options.clients = {{"known", "secret", heist::TaskPriority::user_blocking}};
  options.drain_deadline = milliseconds(100);
  options.limits.max_header = 4 * kib;
  options.limits.max_body = 64 * kib;
  options.limits.max_queued = 64;
  options.limits.header_timeout = milliseconds(200);
  options.limits.idle_timeout = milliseconds(200);
  options.limits.body_timeout = milliseconds(500);
  return options;
}

/// A server that has a thread of its own, which makes it.
class ServerThread {
 public:
  ServerThread() : thread_([this] { run(); }) { listening_.wait(); }
  ServerThread(const ServerThread&) = delete;
  ServerThread& operator=(const ServerThread&) = delete;
  /// As an operator ends it.   Blocks: until it has ended.
  ~ServerThread() {
    check(kill(getpid(), SIGTERM) == 0, "no signal can be sent");
    await([this] { return ended_.load(); }, "I4: the server does not end");
    thread_.join();
  }
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

 private:
  void run() {
    const KindTable kinds = builtin_kinds();
    Server server(server_options(), kinds);
    const std::string address = server.address();
    port_ = static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
    listening_.count_down();
    server.run();
    ended_ = true;
  }

  std::uint16_t port_ = 0;
  std::latch listening_{1};
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// A connection to the server.
class Connection {
 public:
  explicit Connection(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    check(socket_ >= 0, "no socket can be made");
    const timeval most{.tv_sec = std::chrono::seconds(patience).count(), .tv_usec = 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
    setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    check(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0,
          "I1: nobody listens any more");
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(socket_); }

  /// False: the server has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0) return has_closed("I2: the server does not read, and does not close");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void end_sending() { shutdown(socket_, SHUT_WR); }
  /// Some bytes; none: the server has closed.
  std::string_view receive() {
    const auto received = recv(socket_, buffer_.data(), buffer_.size(), 0);
    if (received < 0 && !has_closed("I2: the server neither answers nor closes")) return {};
    return {buffer_.data(), received > 0 ? static_cast<std::size_t>(received) : 0};
  }
  std::string receive_all() {
    std::string all;
    for (auto bytes = receive(); !bytes.empty(); bytes = receive()) all += bytes;
    return all;
  }

 private:
  static bool has_closed(const char* otherwise) {
    check(errno == ECONNRESET || errno == EPIPE, otherwise);
    return false;
  }

  const int socket_;
  std::array<char, 16'384> buffer_{};
};

/// A client that has done nothing wrong.
class Neighbour {
 public:
  explicit Neighbour(std::uint16_t port) : thread_([this, port] { run(port); }) {}
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  ~Neighbour() {
    ends_ = true;
    thread_.join();
    std::printf("healthy %llu times\n", printable(healthy_));
    check(healthy_ > 0, "I3: nobody has asked for the server's health");
  }

 private:
  void run(std::uint16_t port) {
    for (; !ends_; ++healthy_) {
      Connection connection(port);
      check(
          connection.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"),
          "I3: the server does not take the neighbour's request");
      check(connection.receive_all().starts_with("HTTP/1.1 200 "), "I3: the server is not healthy");
    }
  }

  std::atomic<bool> ends_{false};
  std::uint64_t healthy_ = 0;  ///< of its thread, until that has ended
  std::thread thread_;
};

class HttpStress {
 public:
  explicit HttpStress(std::uint16_t port) noexcept : port_(port) {}

  void round(Random& random) {
    HttpRequests requests(random);
    // What good requests make is what damaged ones then name.
    read_replies(talk(random, requests.good()), requests);
    for (int i = 0; i < 8; ++i) read_replies(talk(random, requests.damaged()), requests);
  }

  void report() const {
    for (const auto& [status, count] : replies_) {
      std::printf("%s: %llu\n", status.c_str(), printable(count));
    }
    check(replies_.contains("200") && replies_.contains("202") && replies_.contains("400"),
          "an outcome was never seen");
  }

 private:
  /// Sends it in pieces; what the server said until it closed.
  std::string talk(Random& random, const std::string& bytes) {
    Connection connection(port_);
    std::string_view left = bytes;
    while (!left.empty()) {
      const auto piece = random.one_in(2) ? left.size() : 1 + random.below(left.size());
      if (!connection.send(left.substr(0, piece))) break;
      left.remove_prefix(piece);
      dither(random);
    }
    // Sometimes it is left to the server to lose its patience; but for a job that is waited for, it
    // never would.
    const bool is_silent = random.one_in(64) && bytes.find("wait=1") == std::string::npos;
    if (!is_silent) connection.end_sending();
    // Sometimes nobody is there any more.
    return random.one_in(8) ? std::string() : connection.receive_all();
  }

  void read_replies(std::string_view said, HttpRequests& requests) {
    static constexpr std::string_view version = "HTTP/1.";
    static constexpr std::string_view location = "Location: ";
    check(said.empty() || said.starts_with(version), "I2: what the server says is no reply");
    for (auto at = said.find(version); at != std::string_view::npos;
         at = said.find(version, at + 1)) {
      const std::string status(said.substr(at + version.size() + 2, 3));
      check(status != "500", "I2: a request has met a defect");
      ++replies_[status];
    }
    for (auto at = said.find(location); at != std::string_view::npos;
         at = said.find(location, at + 1)) {
      const auto path = said.substr(at + location.size());
      requests.note_job(std::string(path.substr(0, path.find('\r'))));
    }
  }

  const std::uint16_t port_;
  std::map<std::string, std::uint64_t> replies_;  ///< by status
};

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse("heistd_http_stress", {argv, static_cast<std::size_t>(argc)});
  const ServerThread server;
  HttpStress stress(server.port());
  const Neighbour neighbour(server.port());
  const auto rounds = run_rounds(options, [&](Random& random) { stress.round(random); });
  std::printf("rounds %llu\n", printable(rounds));
  stress.report();
}
