#include <CLI/CLI.hpp>
#include <algorithm>
#include <heistd/job_work.hpp>
#include <heistd/max_wait_option.hpp>
#include <heistd/options.hpp>
#include <set>
#include <utility>

namespace heistd {
namespace {

/// What CLI11 fills, before it becomes Options.
struct Raw {
  std::vector<std::string> max_wait;
  std::vector<std::string> clients;
  std::string anonymous_ceiling = "user-blocking";
  std::int64_t header_timeout = 0;
  std::int64_t idle_timeout = 0;
  std::int64_t drain_deadline = 0;
};

void add_network(CLI::App& app, Options& options, Raw& raw) {
  app.add_option("--address", options.address, "Address to listen on");
  app.add_option("--port", options.port, "Port to listen on; 0 takes a free one")
      ->check(CLI::Range(0, 65535));
  app.add_option("--agents", options.agents,
                 "Threads that run jobs; 0 takes as many as there are CPUs for this process")
      ->check(CLI::Range(0, 56));
  app.add_option(
         "--max-wait", raw.max_wait,
         "How long jobs of a priority may wait before they run whatever else there is; ms, s "
         "or m. Without it strictly by priority")
      ->type_name("PRIORITY=TIME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--max-connections", options.limits.max_connections, "Connections at a time")
      ->check(CLI::PositiveNumber);
  app.add_option("--header-timeout", raw.header_timeout, "Milliseconds a header may take")
      ->check(CLI::PositiveNumber);
  app.add_option("--idle-timeout", raw.idle_timeout, "Milliseconds a client may be silent")
      ->check(CLI::PositiveNumber);
  app.add_option("--drain-deadline", raw.drain_deadline,
                 "Milliseconds jobs may go on after SIGTERM or SIGINT")
      ->check(CLI::NonNegativeNumber);
}

void add_size(CLI::App& app, const std::string& name, std::size_t& value, const std::string& help,
              std::uint64_t least, std::uint64_t most) {
  app.add_option(name, value, help)
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(least, most));
}

void add_limits(CLI::App& app, Limits& limits) {
  static constexpr std::uint64_t most = std::uint64_t{1} << 40U;
  add_size(app, "--max-header", limits.max_header, "Bytes of a request's header", 256, mib);
  add_size(app, "--max-body", limits.max_body, "Bytes of an upload", 1, most);
  app.add_option("--max-queued", limits.max_queued, "Unfinished jobs of a client")
      ->check(CLI::PositiveNumber);
  add_size(app, "--max-queued-bytes", limits.max_queued_bytes,
           "Bytes of a client's unfinished jobs", 1, most);
  app.add_option("--max-results", limits.max_results, "Finished jobs kept for a client")
      ->check(CLI::PositiveNumber);
  add_size(app, "--max-result-bytes", limits.max_result_bytes, "Bytes of results kept for a client",
           1, most);
}

void add_clients(CLI::App& app, Raw& raw) {
  app.add_option("--client", raw.clients,
                 "A client that shows the token, and its highest priority; may be repeated. In the "
                 "environment, HEISTD_CLIENTS holds a list of them with commas")
      ->type_name("NAME:TOKEN:CEILING")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->envname("HEISTD_CLIENTS");
  app.add_option("--anonymous-ceiling", raw.anonymous_ceiling,
                 "Highest priority without a token; none refuses such requests")
      ->check(CLI::IsMember({"none", "background", "user-visible", "user-blocking"}));
}

[[noreturn]] void refuse(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

void read_clients(const Raw& raw, Options& options) {
  std::set<std::string> names{"anonymous"};
  std::set<std::string> tokens;
  for (const auto& text : raw.clients) {
    auto parsed = parse_client_spec(text);
    // The text is not repeated: it may hold a token.
    if (const auto* error = std::get_if<std::string>(&parsed)) refuse("--client", *error);
    auto& spec = std::get<ClientSpec>(parsed);
    if (!names.insert(spec.name).second) refuse("--client", "NAME is taken: " + spec.name);
    if (!tokens.insert(spec.token).second) refuse("--client", "two clients have one TOKEN");
    options.clients.push_back(std::move(spec));
  }
  options.anonymous_ceiling = heist::parse_task_priority(raw.anonymous_ceiling);
}

void read_max_wait(const Raw& raw, Options& options) {
  const auto parsed = parse_max_wait(raw.max_wait);
  if (const auto* error = std::get_if<std::string>(&parsed)) refuse("--max-wait", *error);
  options.max_wait = std::get<heist::MaxWait>(parsed);
}

/// One job of the largest size must fit, or the queue would be full when it is empty.
void check_memory(const Limits& limits) {
  const auto extra =
      std::max(LinePattern::max_memory, working_bytes(JobKind::compress, limits.max_body));
  if (limits.max_queued_bytes >= limits.max_body + extra) return;
  refuse("--max-queued-bytes", "must be at least " + std::to_string(limits.max_body + extra) +
                                   ", so that an upload of --max-body bytes fits");
}

}  // namespace

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  CLI::App app("Runs digest, compress and search jobs on uploaded bytes, by priority.", "heistd");
  Options options;
  Raw raw;
  raw.header_timeout = options.limits.header_timeout.count();
  raw.idle_timeout = options.limits.idle_timeout.count();
  raw.drain_deadline = options.drain_deadline.count();
  app.option_defaults()->always_capture_default();
  add_network(app, options, raw);
  add_limits(app, options.limits);
  add_clients(app, raw);
  try {
    app.parse(argc, argv);
    read_clients(raw, options);
    read_max_wait(raw, options);
    check_memory(options.limits);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  options.limits.header_timeout = std::chrono::milliseconds(raw.header_timeout);
  options.limits.idle_timeout = std::chrono::milliseconds(raw.idle_timeout);
  options.drain_deadline = std::chrono::milliseconds(raw.drain_deadline);
  return options;
}

}  // namespace heistd
