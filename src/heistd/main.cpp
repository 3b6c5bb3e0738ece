// heistd: a job server on a cluster of agents.
#include <csignal>
#include <exception>
#include <heistd/builtin_kinds.hpp>
#include <heistd/descriptors.hpp>
#include <heistd/options.hpp>
#include <heistd/server.hpp>
#include <heistd/service_manager.hpp>
#include <iostream>
#include <memory>
#include <system_error>
#include <utility>

namespace {

std::unique_ptr<heistd::Server> listen(heistd::Options options, const heistd::KindTable& kinds) {
  const auto where = options.address + " port " + std::to_string(options.port);
  try {
    return std::make_unique<heistd::Server>(std::move(options), kinds);
  } catch (const boost::system::system_error& error) {
    std::cerr << "heistd: cannot listen on " << where << ": " << error.code().message()
              << std::endl;
    return nullptr;
  }
}

/// False: so few files may be open that there is no use in starting.
bool fit_connections(std::size_t& connections) {
  const auto possible = heistd::make_room_for_connections(connections);
  if (possible == connections) return true;
  std::cerr << "heistd: the limit of open files (ulimit -n) leaves room for " << possible
            << " connections instead of " << connections << std::endl;
  connections = possible;
  return possible >= 2;
}

int serve(heistd::Options options, const heistd::KindTable& kinds) {
  if (!fit_connections(options.limits.max_connections)) return 1;
  const auto server = listen(std::move(options), kinds);
  if (!server) return 1;
  std::cout << "heistd listening on " << server->endpoint() << std::endl;
  heistd::tell_ready();
  server->run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // Whoever reads our output may go; that is no reason to end.
    std::signal(SIGPIPE, SIG_IGN);
    // Nor is a terminal that is closed.
    std::signal(SIGHUP, SIG_IGN);
    const auto kinds = heistd::builtin_kinds();
    auto parsed = heistd::parse_options(argc, argv, kinds);
    if (const int* code = std::get_if<int>(&parsed)) return *code;
    return serve(std::get<heistd::Options>(std::move(parsed)), kinds);
  } catch (const std::exception& error) {
    std::cerr << "heistd: " << error.what() << std::endl;
    return 1;
  }
}
