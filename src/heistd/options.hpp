// Options: the command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <heist/priority.hpp>
#include <heistd/client.hpp>
#include <heistd/commands/command.hpp>
#include <heistd/journal/job_record.hpp>
#include <heistd/kind_table.hpp>
#include <heistd/limits.hpp>
#include <heistd/tls_identity.hpp>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heistd {

struct Options {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::string unix_socket;         ///< a path; empty: address and port
  TlsFiles tls;                    ///< of the TCP socket
  std::vector<std::string> hosts;  ///< further names of this server
  unsigned agents = 0;             ///< threads that run jobs; 0: as heist::AgentCluster
  unsigned network_threads = 1;    ///< that read requests and write replies
  heist::MaxWait max_wait;         ///< of jobs and their chunks
  Limits limits;
  JournalBounds stored;     ///< of finished jobs, in the directory of the journal
  std::string data;         ///< the directory of the journal; empty: jobs end with the server
  std::string journal;      ///< a connection string of PostgreSQL, with secrets; empty: none
  std::string config_file;  ///< of further options; empty: none
  std::string client_file;  ///< of more clients; empty: none
  std::vector<ClientSpec> clients;  ///< of that file and of the options
  /// Empty: requests without a token are refused.
  std::optional<heist::TaskPriority> anonymous_ceiling = heist::TaskPriority::user_blocking;
  std::string operator_name;  ///< of the client that may see what all do; empty: none may
  std::string job_log;        ///< a file; "-" is standard error; empty: none
  std::chrono::milliseconds report_tasks_over{0};  ///< zero: never
  std::chrono::milliseconds drain_deadline{5000};
  std::vector<Command> commands;  ///< kinds of jobs that programs do
  CommandLimits command_limits;

  std::vector<std::string> arguments;        ///< the command line, with the program's name
  std::map<std::string, std::string> given;  ///< as texts, by their names

  /// Whether SIGHUP may bring something new.
  [[nodiscard]] bool has_files() const noexcept {
    return !config_file.empty() || !client_file.empty() || !job_log.empty() || tls.are_given();
  }
};

/// The options of a server that runs these kinds, or the exit code of a program that has nothing
/// more to do, having said why.
[[nodiscard]] std::variant<Options, int> parse_options(int argc, const char* const* argv,
                                                       const KindTable& kinds);

/// What the same command line says by now, as the files that it names may be other ones; or what is
/// wrong with them.   Blocks: until the files have been read.
[[nodiscard]] std::variant<Options, std::string> reread_options(const Options& before,
                                                                const KindTable& kinds);

/// Has what may change while the server runs be as in `now`: clients, the files of the
/// certificate, and how long is waited for
/// those who are slow, or at the end. Says what else is different, with commas, which takes a new
/// start.
[[nodiscard]] std::string take_over(Options& options, Options now);

}  // namespace heistd
