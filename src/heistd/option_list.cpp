#include <heistd/option_list.hpp>
#include <heistd/served_names.hpp>

namespace heistd {
namespace {

constexpr std::size_t most_counted = 1'000'000'000;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 40U;
constexpr std::int64_t most_milliseconds = std::int64_t{24} * 3600 * 1000;
/// What a heist::Watchdog takes.
constexpr std::int64_t most_reported = std::int64_t{3600} * 1000;
constexpr std::size_t most_connections = 1'000'000;
/// Of what is stored: one counts in seconds, and the other one ends before any clock does.
constexpr std::int64_t least_stored_age = 1000;
constexpr std::int64_t most_stored_age = 3650 * most_milliseconds;

/// What does not fit into the type is out of the range, too.
void add_count(CLI::App& app, const std::string& name, std::size_t& value, const std::string& help,
               std::size_t least = 1, std::size_t most = most_counted) {
  app.add_option(name, value, help)->check(CLI::Range(least, most));
}

/// A number that follows from --max-connections unless it is given, so that there is no default to
/// show.
void add_share(CLI::App& app, const std::string& name, std::size_t& value,
               const std::string& help) {
  app.add_option(name, value, help)
      ->default_str("")
      ->check(CLI::Range(std::size_t{1}, most_connections));
}

void add_time(CLI::App& app, const std::string& name, std::chrono::milliseconds& value,
              const std::string& help, std::int64_t least = 1,
              std::int64_t most = most_milliseconds) {
  app.add_option_function<std::int64_t>(
         name, [&value](std::int64_t count) { value = std::chrono::milliseconds(count); }, help)
      ->default_str(value.count() > 0 ? std::to_string(value.count()) : "")
      ->check(CLI::Range(least, most));
}

CLI::Option* add_size(CLI::App& app, const std::string& name, std::size_t& value,
                      const std::string& help, std::uint64_t least, std::uint64_t most) {
  return app.add_option(name, value, help)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(least, most));
}

CLI::Validator host_name() {
  return {[](const std::string& text) {
            return is_host_name(text) ? "" : "must be a name or an address, without a port";
          },
          "NAME"};
}

CLI::Option* add_file(CLI::App& app, const std::string& name, std::string& path,
                      const std::string& help) {
  return app.add_option(name, path, help)
      ->type_name("PATH")
      ->default_str("")
      ->check(CLI::Validator(
          [](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, ""));
}

/// Both or none: there is nothing to encrypt with otherwise.
void add_tls(CLI::App& app, TlsFiles& files, CLI::Option* unix_socket) {
  auto* const certificate =
      add_file(app, "--tls-certificate", files.certificate,
               "A file with the certificate by which the server speaks TLS, and with those that "
               "lead to its authority, in PEM format; SIGHUP reads it again. Without it there is "
               "no TLS");
  auto* const key = add_file(app, "--tls-key", files.key,
                             "The file of its key, without a passphrase; SIGHUP reads it again");
  certificate->needs(key)->excludes(unix_socket);
  key->needs(certificate);
}

void add_network(CLI::App& app, Options& options, RawOptions& raw) {
  auto* const address = app.add_option("--address", options.address, "Address to listen on");
  auto* const port = app.add_option("--port", options.port, "Port to listen on; 0 takes a free one")
                         ->check(CLI::Range(0, 65535));
  auto* const unix_socket =
      add_file(app, "--unix-socket", options.unix_socket,
               "Path of a Unix socket to listen on, instead of an address and a port")
          ->excludes(address, port);
  add_tls(app, options.tls, unix_socket);
  app.add_option("--host", options.hosts,
                 "A name that clients know this server by, besides localhost, 127.0.0.1, [::1] and "
                 "the address they connect to; may be repeated")
      ->check(host_name())
      ->allow_extra_args(false);
  app.add_option("--agents", options.agents,
                 "Threads that run jobs; 0 takes as many as there are CPUs for this process")
      ->check(CLI::Range(0, 1024));
  app.add_option(
         "--network-threads", options.network_threads,
         "Threads that read requests and write replies. One does all else, too; several are "
         "beside the one that does that")
      ->check(CLI::Range(1, 64));
  app.add_option(
         "--max-wait", raw.max_wait,
         "How long jobs of a priority may wait before they run whatever else there is; ms, s "
         "or m. Without it strictly by priority")
      ->type_name("PRIORITY=TIME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_time(app, "--drain-deadline", options.drain_deadline,
           "Milliseconds jobs may go on after SIGTERM or SIGINT", 0);
}

void add_data(CLI::App& app, Options& options) {
  app.add_option("--data", options.data,
                 "A directory in which jobs outlive the server: what was accepted and is not done "
                 "when it ends, however it does, is done by the next one. Made if need be. Without "
                 "it jobs end with the server")
      ->type_name("DIR")
      ->default_str("");
  add_size(app, "--max-stored-bytes", options.stored.finished_bytes,
           "Bytes of finished jobs, of all clients together, that the directory of --data keeps; "
           "the oldest go first, and the newest one stays",
           1, most_bytes);
  add_time(app, "--max-stored-age", options.stored.finished_age,
           "Milliseconds that it keeps a finished job", least_stored_age, most_stored_age);
  add_size(app, "--max-stored-uploads", options.limits.max_stored_uploads,
           "Bytes of uploads of a client's unfinished jobs that it has", 1, most_bytes);
  app.add_option(
         "--journal", options.journal,
         "A database of PostgreSQL that keeps jobs for all servers that name it: they share "
         "one queue. `heistd migrate` makes its tables. In the environment, HEISTD_JOURNAL")
      ->type_name("postgresql://USER@HOST/DATABASE")
      ->default_str("")
      ->envname("HEISTD_JOURNAL");
}

void add_observation(CLI::App& app, Options& options) {
  app.add_option(
         "--operator", options.operator_name,
         "The client that may ask for /debug/dump, /debug/trace and /metrics, which show what "
         "all clients have the agents do; anonymous is the one without a token. Nobody may "
         "unless given")
      ->type_name("NAME")
      ->default_str("");
  app.add_option("--job-log", options.job_log,
                 "A file that gets a line of JSON for each job that ends; SIGHUP opens it anew. - "
                 "is standard error")
      ->type_name("PATH")
      ->default_str("");
  add_time(
      app, "--report-tasks-over", options.report_tasks_over,
      "Milliseconds after which a chunk of a job that still runs is reported on standard error. "
      "None is unless given",
      1, most_reported);
}

void add_connections(CLI::App& app, Limits& limits) {
  add_count(app, "--max-connections", limits.max_connections,
            "Connections at a time; a new one takes the place of the one idle for longest", 2,
            most_connections);
  add_share(app, "--max-client-connections", limits.max_client_connections,
            "Of them, with a request of one client under way; all without a token are one client. "
            "Three quarters unless given");
  add_share(app, "--max-address-connections", limits.max_address_connections,
            "Of them, without a token from one remote address (IPv6: from one network of 64 bits). "
            "A quarter unless given");
  app.add_flag("--limit-loopback", limits.limit_loopback,
               "Have --max-address-connections for the addresses of loopback, too");
  add_share(app, "--max-waiting", limits.max_waiting,
            "Requests of a client that wait for their jobs. Two thirds of its connections unless "
            "given");
  add_time(app, "--header-timeout", limits.header_timeout, "Milliseconds a header may take");
  add_time(app, "--idle-timeout", limits.idle_timeout, "Milliseconds a client may be silent");
  add_time(app, "--body-timeout", limits.body_timeout, "Milliseconds an upload may take");
  add_size(app, "--min-rate", limits.min_rate,
           "Bytes a second that a client must send or read of a body, on an average", 1,
           most_bytes);
}

void add_limits(CLI::App& app, Limits& limits) {
  add_size(app, "--max-header", limits.max_header, "Bytes of a request's header", 256, mib);
  add_size(app, "--max-body", limits.max_body, "Bytes of an upload", 1, most_bytes);
  add_count(app, "--max-queued", limits.max_queued, "Unfinished jobs of a client");
  add_size(app, "--max-queued-bytes", limits.max_queued_bytes,
           "Bytes of a client's unfinished jobs", 1, most_bytes);
  add_size(app, "--max-unsent-bytes", limits.max_unsent_bytes,
           "Bytes a client has announced and not sent yet, in uploads of more than 128 KiB. Unless "
           "given, a quarter of --max-queued-bytes or one upload",
           1, most_bytes)
      ->default_str("");
  add_count(app, "--max-results", limits.max_results, "Finished jobs kept for a client");
  add_size(app, "--max-result-bytes", limits.max_result_bytes, "Bytes of results kept for a client",
           1, most_bytes);
}

void add_clients(CLI::App& app, Options& options, RawOptions& raw) {
  app.add_option("--client", raw.clients,
                 "A client that shows the token, its highest priority, and perhaps limits; may be "
                 "repeated. In the environment, HEISTD_CLIENTS holds a list of them with commas")
      ->type_name("'NAME:TOKEN:CEILING LIMIT...'")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->envname("HEISTD_CLIENTS");
  app.add_option("--client-file", options.client_file,
                 "A file of more of them, one to a line, which SIGHUP reads again")
      ->type_name("PATH")
      ->default_str("");
  app.add_option("--anonymous-ceiling", raw.anonymous_ceiling,
                 "Highest priority without a token; none refuses such requests")
      ->check(CLI::IsMember({"none", "background", "user-visible", "user-blocking"}));
}

void add_commands(CLI::App& app, CommandLimits& limits, RawOptions& raw) {
  app.add_option("--command", raw.commands,
                 "A kind of job that a program does: the upload is its input, its output the "
                 "result; may be repeated")
      ->type_name("'NAME=/path/to/program ARGUMENT...'")
      ->allow_extra_args(false);
  add_time(app, "--command-timeout", limits.timeout, "Milliseconds a program may run");
  add_size(app, "--command-memory", limits.memory,
           "Bytes of a program's address space. As many as the server's own unless given", mib,
           most_bytes)
      ->default_str("");
  add_size(app, "--command-output", limits.output, "Bytes a program may write", 1, most_bytes);
  add_share(app, "--max-commands", limits.at_a_time,
            "Programs that run at a time. As many as the machine has CPUs unless given");
}

void add_config(CLI::App& app, Options& options) {
  app.set_config("--config", "",
                 "A file with a line 'NAME = VALUE' for each option, without its dashes, which "
                 "SIGHUP reads again. What the command line says goes before")
      ->type_name("PATH")
      ->default_str("")
      ->each([&options](const std::string& path) { options.config_file = path; });
  app.allow_config_extras(CLI::config_extras_mode::error);
}

}  // namespace

void add_options(CLI::App& app, Options& options, RawOptions& raw) {
  app.option_defaults()->always_capture_default();
  app.set_version_flag("--version", "heistd " HEISTD_VERSION, "Print the version and end");
  add_config(app, options);
  add_network(app, options, raw);
  add_data(app, options);
  add_connections(app, options.limits);
  add_limits(app, options.limits);
  add_clients(app, options, raw);
  add_observation(app, options);
  add_commands(app, options.command_limits, raw);
}

}  // namespace heistd
