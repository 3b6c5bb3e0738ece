// heistctl: the command line of heistd.
#include <exception>
#include <heistctl/commands.hpp>
#include <heistctl/interrupt.hpp>
#include <heistctl/token.hpp>
#include <iostream>

namespace {

using namespace heistctl;

using Run = ExitCode (*)(Client&, const Options&);

Run run_of(Command command) noexcept {
  switch (command) {
    case Command::submit:
      return submit;
    case Command::bulk:
      return submit_bulk;
    case Command::watch:
      return watch;
    case Command::show:
      return show;
    case Command::result:
      return print_result;
    case Command::list:
      return list;
    case Command::retry:
      return retry;
    case Command::abort:
      return abort_jobs;
    case Command::erase:
      return erase_jobs;
    case Command::priority:
      return set_priority;
    case Command::signal:
      return change_signal;
    case Command::pause:
    case Command::resume:
      return set_pause;
    case Command::top:
      return top;
    case Command::drain:
      return drain;
    case Command::health:
      break;
  }
  return health;
}

Address address_of(const Options& options) {
  auto address = parse_address(options.server);
  if (address.has_tls || options.ca_file.empty()) return address;
  throw Failure(ExitCode::usage, "--ca is for a server with https://, and '" + address.text +
                                     "' is another one; --server or HEIST_SERVER names the server");
}

int run(const Options& options) {
  Http http(address_of(options), read_token(options.token_file), options.ca_file);
  // Who asks for the health wants to know it now, and a server that drains is to go away.
  const bool wants_answer = options.command != Command::health && options.command != Command::drain;
  const bool waits = wants_answer || options.waits_for_server;
  Client client(http, waits ? options.retry_for : std::chrono::milliseconds(),
                options.waits_for_server);
  return static_cast<int>(run_of(options.command)(client, options));
}

}  // namespace

int main(int argc, char** argv) {
  note_interrupts();
  try {
    const auto options = parse_options(argc, argv);
    if (const auto* const code = std::get_if<int>(&options)) return *code;
    return run(std::get<Options>(options));
  } catch (const Failure& failure) {
    std::cerr << "heistctl: " << failure.what() << std::endl;
    return static_cast<int>(failure.code());
  } catch (const std::exception& error) {
    std::cerr << "heistctl: " << error.what() << std::endl;
    return static_cast<int>(ExitCode::local);
  }
}
