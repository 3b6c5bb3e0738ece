#include <heistd/commands/commands.hpp>
#include <heistd/connection_thread.hpp>
#include <heistd/descriptors.hpp>
#include <heistd/journal/sqlite_database.hpp>
#include <heistd/migrate_command.hpp>
#include <heistd/openssl_memory.hpp>
#include <heistd/options.hpp>
#include <heistd/serve.hpp>
#include <heistd/server.hpp>
#include <heistd/service_manager.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

namespace heistd {
namespace {

std::unique_ptr<Server> listen(Options options, const KindTable& kinds) {
  const auto where = options.unix_socket.empty()
                         ? options.address + " port " + std::to_string(options.port)
                         : options.unix_socket;
  try {
    return std::make_unique<Server>(std::move(options), kinds);
  } catch (const boost::system::system_error& error) {
    std::cerr << "heistd: cannot listen on " << where << ": " << error.code().message()
              << std::endl;
    return nullptr;
  }
}

/// False: so few files may be open that there is no use in starting.
bool fit_connections(std::size_t& connections, std::size_t of_programs, unsigned threads) {
  const auto of_threads = threads > 1 ? threads * ConnectionThread::descriptors : 0;
  const auto possible = make_room_for_connections(connections, of_programs + of_threads);
  if (possible == connections) return true;
  std::cerr << "heistd: the limit of open files (ulimit -n) leaves room for " << possible
            << " connections instead of " << connections;
  if (of_programs > 0) std::cerr << ", as programs may take " << of_programs << " (--max-commands)";
  std::cerr << std::endl;
  connections = possible;
  return possible >= 2;
}

}  // namespace

int serve(int argc, const char* const* argv, KindTable kinds) {
  if (asks_to_migrate(argc, argv)) return run_migrate(argc, argv);
  give_openssl_the_reserve();
  stop_counting_memory_of_sqlite();
  auto parsed = parse_options(argc, argv, kinds);
  if (const int* code = std::get_if<int>(&parsed)) return *code;
  auto options = std::get<Options>(std::move(parsed));
  Commands commands(options.command_limits);
  for (const auto& command : options.commands) commands.add_to(kinds, command);
  if (!fit_connections(options.limits.max_connections, commands.descriptors(),
                       options.network_threads)) {
    return 1;
  }
  const auto* const scheme = options.tls.are_given() ? "https://" : "http://";
  const auto server = listen(std::move(options), kinds);
  if (!server) return 1;
  const auto address = server->address();
  std::cout << "heistd listening on " << address << std::endl;
  const bool is_path = address.starts_with("unix:");
  if (!is_path) std::cout << "heistd: its page is at " << scheme << address << "/" << std::endl;
  tell_ready();
  server->run();
  commands.end();
  return 0;
}

}  // namespace heistd
