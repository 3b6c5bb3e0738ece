#include <csignal>
#include <exception>
#include <heistd/serve.hpp>
#include <iostream>
#include <jobs/handler_kind.hpp>
#include <jobs/server_core.hpp>
#include <stdexcept>
#include <utility>

namespace HEIST_NAMESPACE::jobs {

Server::Server() : core_(std::make_unique<detail::ServerCore>()) {}
Server::~Server() = default;

void Server::add(std::string name, Handler handler, KindOptions options,
                 std::source_location where) {
  if (!handler) throw std::invalid_argument("kind(): the handler of " + name + " is empty");
  core_->kinds.add(
      heistd::make_handler_kind(std::move(name), std::move(handler), std::move(options), where));
}

int Server::run(int argc, const char* const* argv) {
  try {
    // Whoever reads our output may go; that is no reason to end.
    std::signal(SIGPIPE, SIG_IGN);
    // Nor is a terminal that is closed.
    std::signal(SIGHUP, SIG_IGN);
    return heistd::serve(argc, argv, core_->kinds);
  } catch (const std::exception& error) {
    std::cerr << "heistd: " << error.what() << std::endl;
    return 1;
  }
}

}  // namespace HEIST_NAMESPACE::jobs
