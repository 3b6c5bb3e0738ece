// An HTTP server on Boost.Beast whose handlers run at priorities: one thread has the sockets, two
// agents run the handlers, and each request has a signal with its priority and its deadline. It
// serves itself three requests, and ends.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <string>
#include <string_view>
#include <utility>

namespace beast = boost::beast;
namespace http = beast::http;
namespace net = boost::asio;
using net::ip::tcp;
using namespace std::chrono_literals;

namespace {

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

heist::TaskPriority priority_of(std::string_view target) {
  return target.starts_with("/report") ? heist::TaskPriority::background
                                       : heist::TaskPriority::user_blocking;
}

/// What a request is about. It runs on an agent, as a task, and yields: more urgent requests go
/// first then, and an aborted one ends there.
heist::Promise<std::string> handle(std::string target) {
  const int steps = target == "/report/endless" ? 1'000'000'000 : 3;
  for (int step = 0; step < steps; ++step) co_await heist::yield();
  co_return "answer to " + target + "\n";
}

Response response_of(http::status status, std::string body) {
  Response response(status, 11);
  response.body() = std::move(body);
  response.prepare_payload();
  return response;
}

/// Runs the handler on the cluster, and waits for it here, on the thread of the sockets.
net::awaitable<Response> answer(const heist::Scheduler& scheduler, std::string target) {
  const heist::TaskController request(priority_of(target));  // set_priority() and abort() as needed
  const auto deadline = heist::AbortSignal::timeout(scheduler, 50ms);
  const auto signal = heist::TaskSignal::any({request.signal(), deadline}, request.signal());
  auto handled = scheduler.post_task([target] { return handle(target); }, {.signal = signal});
  try {
    std::string text = co_await heist::async_wait(std::move(handled), net::use_awaitable);
    co_return response_of(http::status::ok, std::move(text));
  } catch (const heist::TimeoutError&) {
    co_return response_of(http::status::service_unavailable, "too late\n");
  }
}

net::awaitable<void> serve(tcp::socket socket, const heist::Scheduler& scheduler,
                           heist::asio::Executor log) {
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer;
  for (;;) {
    Request request;
    stream.expires_after(10s);  // a client has so long to send it
    co_await http::async_read(stream, buffer, request, net::use_awaitable);
    stream.expires_never();
    const std::string target = request.target();
    Response response = co_await answer(scheduler, target);
    net::post(log, [target] { std::printf("log: %s\n", target.c_str()); });
    response.keep_alive(request.keep_alive());
    stream.expires_after(10s);
    co_await http::async_write(stream, response, net::use_awaitable);
    if (!response.keep_alive()) co_return;
  }
}

net::awaitable<void> listen(tcp::acceptor& acceptor, const heist::Scheduler& scheduler,
                            heist::asio::Executor log) {
  for (;;) {
    tcp::socket socket = co_await acceptor.async_accept(net::use_awaitable);
    net::co_spawn(acceptor.get_executor(), serve(std::move(socket), scheduler, log), net::detached);
  }
}

net::awaitable<unsigned> fetch(tcp::endpoint server, const heist::Scheduler& scheduler,
                               const char* target) {
  tcp::socket socket(co_await net::this_coro::executor);
  const auto deadline = heist::AbortSignal::timeout(scheduler, 10s);
  co_await socket.async_connect(server, heist::bind_abort_signal(deadline, net::use_awaitable));
  Request request(http::verb::get, target, 11);
  request.keep_alive(false);
  co_await http::async_write(socket, request, net::use_awaitable);
  beast::flat_buffer buffer;
  Response response;
  co_await http::async_read(socket, buffer, response, net::use_awaitable);
  std::printf("%s: %u %s", target, response.result_int(), response.body().c_str());
  co_return response.result_int();
}

/// Some clients, one after the other. Whether they got what they should.
net::awaitable<bool> ask(tcp::endpoint server, const heist::Scheduler& scheduler) {
  const unsigned urgent = co_await fetch(server, scheduler, "/page");
  const unsigned report = co_await fetch(server, scheduler, "/report");
  const unsigned late = co_await fetch(server, scheduler, "/report/endless");
  co_return urgent == 200 && report == 200 && late == 503;
}

bool run() {
  // In this order: what is made first ends last, when nothing uses it any more.
  heist::asio::TaskContext context;
  net::io_context io(1);
  heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler scheduler = cluster.scheduler();
  // Handlers of Asio run at priorities as well.
  const auto log = net::require(heist::asio::Executor(context, cluster),
                                heist::asio::priority(heist::TaskPriority::background));
  tcp::acceptor acceptor(io, tcp::endpoint(net::ip::address_v4::loopback(), 0));
  net::co_spawn(io, listen(acceptor, scheduler, log), net::detached);

  auto asked = net::co_spawn(io, ask(acceptor.local_endpoint(), scheduler), heist::use_promise);
  heist::async_wait(asked,
                    net::bind_executor(io, [&io](const auto&... /*outcome*/) { io.stop(); }));
  io.run();
  return asked.get();
}

}  // namespace

int main() {
  try {
    return run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "beast_http_server: %s\n", error.what());
    return 1;
  }
}
