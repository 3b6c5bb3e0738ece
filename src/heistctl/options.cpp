#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <heistctl/failure.hpp>
#include <heistctl/options.hpp>
#include <map>

namespace heistctl {
namespace {

using std::chrono::milliseconds;

/// What CLI11 fills, before it becomes Options.
struct Raw {
  std::vector<std::string> parameters;
  std::string delay;
  std::string ttl;
  std::string after;
  std::string timeout;
  std::string state;
  std::string kind_filter;
  std::string signal_filter;
  std::string action;
};

CLI::App& add_command(CLI::App& app, Options& options, Command command, const std::string& name,
                      const std::string& help) {
  auto& added = *app.add_subcommand(name, help);
  added.callback([&options, command] { options.command = command; });
  return added;
}

CLI::Validator priority_name() {
  return CLI::IsMember({"background", "user-visible", "user-blocking"});
}

CLI::Validator at_least(std::int64_t milliseconds_count) {
  return {[milliseconds_count](const std::string& text) {
            constexpr std::int64_t day = std::int64_t{24} * 3600 * 1000;
            const auto count = std::stoll(text);
            const bool is_right = count >= milliseconds_count && count <= day;
            return is_right ? ""
                            : "must be from " + std::to_string(milliseconds_count) + "ms to 24h";
          },
          ""};
}

/// Whole numbers with a unit, in milliseconds; a day at the most.
CLI::Option* add_time(CLI::App& app, const std::string& name, const std::string& help,
                      std::int64_t least, const std::function<void(std::int64_t)>& take) {
  static const std::map<std::string, std::int64_t> units{
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}};
  auto with_unit = CLI::AsNumberWithUnit(
      units, CLI::AsNumberWithUnit::Options(CLI::AsNumberWithUnit::CASE_SENSITIVE |
                                            CLI::AsNumberWithUnit::UNIT_REQUIRED));
  return app.add_option_function<std::int64_t>(name, take, help)
      ->transform(with_unit.description(""))
      ->check(at_least(least))
      ->type_name("TIME");
}

void add_server(CLI::App& app, Options& options) {
  app.add_option("--server", options.server,
                 "Where heistd is: http://HOST:PORT, https://HOST:PORT or unix:/PATH")
      ->envname("HEIST_SERVER")
      ->type_name("URL")
      ->capture_default_str();
  app.add_option("--ca", options.ca_file,
                 "A file with the authorities that may vouch for a server with https, in PEM "
                 "format, instead of those that the system trusts")
      ->type_name("PATH");
  app.add_option("--token-file", options.token_file,
                 "A file that has the client's token; without it HEIST_TOKEN may have one")
      ->type_name("PATH");
  add_time(app, "--retry-for",
           "How long a busy server, or one whose connection is lost, is asked again; 500ms, 30s, "
           "5m or 2h, also 0s. Given, it also waits for a server that does not run yet [30s]",
           0, [&options](std::int64_t count) {
             options.retry_for = milliseconds(count);
             options.waits_for_server = count > 0;
           });
}

void add_ids(CLI::App& command, Options& options) {
  command.add_option("ID", options.ids, "The jobs")->required()->type_name("");
}

CLI::Validator not_empty() {
  return {[](const std::string& text) { return text.empty() ? "must not be empty" : ""; }, ""};
}

/// Jobs, or all of the client that have ended so.
void add_ids_or_all(CLI::App& command, Options& options, Raw& raw, const std::string& which) {
  auto* const ids = command.add_option("ID", options.ids, "The jobs")->type_name("");
  auto* const all = command.add_flag("--all", options.all, which)->excludes(ids);
  command.add_option("--kind", raw.kind_filter, "With --all, only those of this kind")
      ->needs(all)
      ->check(not_empty())
      ->type_name("KIND");
  command.add_option("--signal", raw.signal_filter, "With --all, only those of this signal")
      ->needs(all)
      ->check(not_empty())
      ->type_name("NAME");
}

void add_id(CLI::App& command, Options& options) {
  command
      .add_option_function<std::string>(
          "ID", [&options](const std::string& id) { options.ids = {id}; }, "The job")
      ->required()
      ->type_name("");
}

void add_output(CLI::App& command, Options& options, const std::string& help) {
  command.add_option("-o,--output", options.output, help)->type_name("FILE")->check(not_empty());
}

void add_submit(CLI::App& app, Options& options, Raw& raw) {
  auto& command = add_command(app, options, Command::submit, "submit",
                              "Send a job, and print its id, or wait for its result");
  command.add_option("KIND", options.kind, "The kind of job")->required()->type_name("");
  command.add_option("FILE", options.file, "The upload; - is the standard input [-]")
      ->type_name("");
  command.add_option("--priority", options.priority, "The job's own priority")
      ->check(priority_name())
      ->type_name("PRIORITY");
  command.add_option("--signal", options.signal, "The signal that it follows")->type_name("NAME");
  add_time(command, "--delay", "How long it waits before it may start", 0,
           [&raw](std::int64_t count) { raw.delay = std::to_string(count); });
  add_time(command, "--ttl", "It is aborted if it has not started by then", 1,
           [&raw](std::int64_t count) { raw.ttl = std::to_string(count); });
  add_time(command, "--timeout", "How long each attempt may run", 1,
           [&raw](std::int64_t count) { raw.timeout = std::to_string(count); });
  command
      .add_option("--after", raw.after,
                  "The job after which it starts, once that is done; else it is aborted")
      ->type_name("ID");
  command.add_option("--param", raw.parameters, "A parameter of the kind; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option("--idempotency-key", options.key,
                  "Sent again with the same key, it is the same job. A new key unless given")
      ->type_name("KEY");
  command.add_flag("--wait", options.waits, "Wait for the end, and print the result");
  add_output(command, options, "Wait for the end, and write the result to this file");
}

void add_bulk(CLI::App& app, Options& options) {
  auto& command = add_command(app, options, Command::bulk, "bulk",
                              "Send many jobs at once, a line of JSON each, and print their ids");
  command.add_option("FILE", options.file, "The lines; - is the standard input [-]")->type_name("");
  command
      .add_option("--idempotency-key", options.key,
                  "Sent again with the same key, they are the same jobs. A new key unless given")
      ->type_name("KEY");
}

void add_job_commands(CLI::App& app, Options& options, Raw& raw) {
  auto& watch = add_command(app, options, Command::watch, "watch",
                            "Show a job until it ends. Ctrl-C ends the watch, not the job");
  add_id(watch, options);
  watch.add_flag("--abort", options.aborts, "Have Ctrl-C abort the job, too");
  auto& show = add_command(app, options, Command::show, "show", "Show what a job is at");
  add_id(show, options);
  show.add_flag("--json", options.as_json, "As the server says it");
  auto& result = add_command(app, options, Command::result, "result", "Print the result of a job");
  add_id(result, options);
  add_output(result, options, "Write it to this file, which has its name once it is whole");
  add_ids_or_all(add_command(app, options, Command::retry, "retry", "Queue dead jobs again"),
                 options, raw, "All dead jobs");
  add_ids(add_command(app, options, Command::abort, "abort", "Abort jobs that have not ended"),
          options);
  auto& erase = add_command(app, options, Command::erase, "delete",
                            "Forget jobs that have ended, with their results");
  add_ids_or_all(erase, options, raw, "All jobs of a state");
  erase.add_option("--state", raw.state, "With --all: which")
      ->check(CLI::IsMember({"done", "failed", "aborted", "dead"}))
      ->type_name("STATE");
  auto& priority = add_command(app, options, Command::priority, "priority",
                               "Change the priority of a job that follows no signal");
  add_id(priority, options);
  priority.add_option("PRIORITY", options.priority, "The new one")
      ->required()
      ->check(priority_name())
      ->type_name("");
}

void add_list(CLI::App& app, Options& options, Raw& raw) {
  auto& command = add_command(app, options, Command::list, "list",
                              "List the client's jobs, in the order in which they came");
  command.add_option("--state", raw.state, "Only those that are at this")
      ->check(CLI::IsMember({"delayed", "queued", "running", "done", "failed", "aborted", "dead"}))
      ->type_name("STATE");
  command.add_option("--kind", raw.kind_filter, "Only those of this kind")->type_name("KIND");
  command.add_option("--signal", raw.signal_filter, "Only those of this signal")->type_name("NAME");
  command.add_flag("--json", options.as_json, "As the server says it, a line for each job");
}

void add_signal(CLI::App& app, Options& options, Raw& raw) {
  auto& command = add_command(app, options, Command::signal, "signal",
                              "Change the priority of all jobs of a signal, or abort them");
  command.add_option("NAME", options.signal, "The signal")->required()->type_name("");
  command.add_option("ACTION", raw.action, "priority PRIORITY, or abort")
      ->required()
      ->check(CLI::IsMember({"priority", "abort"}))
      ->type_name("");
  command.add_option("PRIORITY", options.priority, "The new one")
      ->check(priority_name())
      ->type_name("");
}

void add_pauses(CLI::App& app, Options& options) {
  const auto add = [&](Command what, const std::string& name, const std::string& help) {
    auto& command = add_command(app, options, what, name, help);
    command.add_option("WHAT", options.paused, "kind, or signal")
        ->required()
        ->check(CLI::IsMember({"kind", "signal"}))
        ->type_name("");
    command.add_option("NAME", options.paused_name, "Its name")->required()->type_name("");
  };
  add(Command::pause, "pause", "Have no job of a kind, or of a signal, start");
  add(Command::resume, "resume", "Let jobs of a kind, or of a signal, start again");
}

void add_server_commands(CLI::App& app, Options& options) {
  auto& top = add_command(app, options, Command::top, "top",
                          "Show how many jobs of each priority wait and run, again and again");
  add_time(top, "--interval", "How often, on a terminal [1s]", 100,
           [&options](std::int64_t count) { options.interval = milliseconds(count); });
  add_command(app, options, Command::health, "health", "Say whether the server takes jobs");
  add_command(app, options, Command::drain, "drain",
              "Have the server finish its jobs and end, and wait for that; for the operator");
}

std::pair<std::string, std::string> read_parameter(const std::string& text) {
  const auto sign = text.find('=');
  if (sign == 0 || sign == std::string::npos) {
    throw CLI::ValidationError("--param", "'" + text + "' is not NAME=VALUE");
  }
  if (text.substr(0, sign) == "wait") {
    throw CLI::ValidationError("--param", "'" + text + "': write --wait instead");
  }
  return {text.substr(0, sign), text.substr(sign + 1)};
}

void read_query(const Raw& raw, Options& options) {
  const bool submits = options.command == Command::submit;
  const auto add = [&options](const char* name, const std::string& value) {
    if (!value.empty()) options.parameters.emplace_back(name, value);
  };
  if (submits) add("priority", options.priority);
  add("signal", submits ? options.signal : raw.signal_filter);
  add("delay", raw.delay);
  add("ttl", raw.ttl);
  add("timeout", raw.timeout);
  add("after", raw.after);
  add("state", raw.state);
  add("kind", raw.kind_filter);
  for (const auto& text : raw.parameters) options.parameters.push_back(read_parameter(text));
}

void read_signal(const Raw& raw, Options& options) {
  if (options.command != Command::signal) return;
  options.aborts_signal = raw.action == "abort";
  if (options.aborts_signal == options.priority.empty()) return;
  throw CLI::ValidationError(
      "signal", options.aborts_signal ? "abort takes no priority"
                                      : "which priority? Write: signal NAME priority PRIORITY");
}

/// All jobs of every state are never meant.
void check_all(const Raw& raw, const Options& options) {
  const bool takes_all = options.command == Command::retry || options.command == Command::erase;
  if (takes_all && !options.all && options.ids.empty()) {
    throw CLI::ValidationError("ID", "which jobs? Write their ids, or --all");
  }
  if (options.command == Command::erase && options.all == raw.state.empty()) {
    throw CLI::ValidationError(
        "--all", options.all ? "of which state? Write --state STATE" : "--state takes --all");
  }
}

int usage_of(const CLI::App& app, const CLI::ParseError& error) {
  return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
}

}  // namespace

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  CLI::App app("Sends jobs to heistd, the job server, and follows them.", "heistctl");
  Options options;
  Raw raw;
  app.set_version_flag("--version", "heistctl " HEISTCTL_VERSION, "Print the version and end");
  app.require_subcommand(1);
  app.fallthrough();
  add_server(app, options);
  add_submit(app, options, raw);
  add_bulk(app, options);
  add_job_commands(app, options, raw);
  add_list(app, options, raw);
  add_signal(app, options, raw);
  add_pauses(app, options);
  add_server_commands(app, options);
  try {
    app.parse(argc, argv);
    read_query(raw, options);
    read_signal(raw, options);
    check_all(raw, options);
  } catch (const CLI::ParseError& error) {
    return usage_of(app, error);
  }
  options.waits |= !options.output.empty();
  return options;
}

}  // namespace heistctl
