// A TCP echo server on the threads of a cluster: each agent has an io_context, serves its sockets
// there, and runs tasks. No further thread is started.
#include <array>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <memory>
#include <string>
#include <utility>

namespace net = boost::asio;
using boost::system::error_code;
using net::ip::tcp;

namespace {

constexpr unsigned agents = 2;
constexpr unsigned clients = 4;

/// What a request takes: an urgent task, which any agent may run.
std::string answer_to(const std::string& line) { return "echo: " + line; }

/// One connection, whose handlers run on the agent of its socket.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, heist::Scheduler scheduler)
      : socket_(std::move(socket)), scheduler_(std::move(scheduler)) {}

  void read() {
    socket_.async_read_some(net::buffer(buffer_),
                            [self = shared_from_this()](const error_code& error, std::size_t size) {
                              if (!error) self->work_on(std::string(self->buffer_.data(), size));
                            });
  }

 private:
  /// Waits for a task without holding the agent.
  void work_on(std::string line) {
    const auto answer = scheduler_.post_task([line = std::move(line)] { return answer_to(line); },
                                             {.priority = heist::TaskPriority::user_blocking});
    auto on_answer = [self = shared_from_this()](const std::exception_ptr& error,
                                                 std::string text) {
      if (!error) self->write(std::move(text));
    };
    heist::async_wait(answer, net::bind_executor(socket_.get_executor(), on_answer));
  }
  void write(std::string text) {
    text_ = std::move(text);
    net::async_write(socket_, net::buffer(text_),
                     [self = shared_from_this()](const error_code& error, std::size_t /*size*/) {
                       if (!error) self->read();
                     });
  }

  tcp::socket socket_;
  heist::Scheduler scheduler_;
  std::array<char, 1024> buffer_{};
  std::string text_;
};

/// The first agent accepts, and gives the connections to all agents by turns.
void accept(tcp::acceptor& acceptor, const heist::asio::AgentContexts& contexts,
            const heist::Scheduler& scheduler, unsigned agent = 0) {
  acceptor.async_accept(contexts[agent], [&, agent](const error_code& error, tcp::socket socket) {
    if (error) return;
    std::make_shared<Session>(std::move(socket), scheduler)->read();
    accept(acceptor, contexts, scheduler, (agent + 1) % contexts.size());
  });
}

void talk(tcp::socket socket, const tcp::endpoint& server, unsigned number) {
  socket.connect(server);
  const std::string line = "hello " + std::to_string(number) + "\n";
  net::write(socket, net::buffer(line));
  std::string answer(answer_to(line).size(), '\0');
  net::read(socket, net::buffer(answer));
  std::printf("%s", answer.c_str());
}

void run() {
  heist::asio::AgentContexts contexts(agents);  // first, as it ends when the cluster has closed
  tcp::acceptor acceptor(contexts[0], tcp::endpoint(net::ip::address_v4::loopback(), 0));
  heist::AgentCluster cluster({.hosts = contexts.hosts()});

  const auto scheduler = cluster.scheduler();
  accept(acceptor, contexts, scheduler);
  for (unsigned number = 0; number < clients; ++number)
    talk(tcp::socket(contexts[0]), acceptor.local_endpoint(), number);
}

}  // namespace

int main() {
  try {
    run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asio_agents_echo: %s\n", error.what());
    return 1;
  }
}
