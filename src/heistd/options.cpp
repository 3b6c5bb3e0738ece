#include <algorithm>
#include <heistd/max_wait_option.hpp>
#include <heistd/option_list.hpp>
#include <heistd/postgresql/postgres_target.hpp>
#include <set>
#include <stdexcept>
#include <utility>

namespace heistd {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

void read_clients(const RawOptions& raw, Options& options) {
  std::vector<ClientSpec> listed;
  for (const auto& text : raw.clients) {
    auto parsed = parse_client_spec(text);
    if (const auto* error = std::get_if<std::string>(&parsed)) refuse("--client", *error);
    listed.push_back(std::get<ClientSpec>(std::move(parsed)));
  }
  auto clients = read_clients(std::move(listed), options.client_file);
  if (const auto* error = std::get_if<std::string>(&clients)) {
    refuse(options.client_file.empty() ? "--client" : "--client-file", *error);
  }
  options.clients = std::get<std::vector<ClientSpec>>(std::move(clients));
  options.anonymous_ceiling = heist::parse_task_priority(raw.anonymous_ceiling);
}

void check_operator(const Options& options) {
  const std::string& name = options.operator_name;
  if (name.empty()) return;
  const bool is_known =
      name == "anonymous"
          ? options.anonymous_ceiling.has_value()
          : std::ranges::find(options.clients, name, &ClientSpec::name) != options.clients.end();
  if (!is_known) refuse("--operator", "there is no client " + name);
}

/// What is wrong with the string is said without it, as it may have a password.
void check_journal(const Options& options) {
  if (options.journal.empty()) return;
  if (!options.data.empty()) {
    refuse("--journal",
           "--data is given as well, and jobs are kept either in a database or in a directory: "
           "leave one of them out");
  }
  try {
    const PostgresTarget readable(options.journal);
  } catch (const std::invalid_argument& error) {
    refuse("--journal", error.what());
  }
}

void read_commands(const RawOptions& raw, Options& options) {
  for (const auto& text : raw.commands) {
    auto parsed = parse_command(text);
    if (const auto* error = std::get_if<std::string>(&parsed)) refuse("--command", *error);
    options.commands.push_back(std::get<Command>(std::move(parsed)));
  }
}

void read_max_wait(const RawOptions& raw, Options& options) {
  const auto parsed = parse_max_wait(raw.max_wait);
  if (const auto* error = std::get_if<std::string>(&parsed)) refuse("--max-wait", *error);
  options.max_wait = std::get<heist::MaxWait>(parsed);
}

/// One job of the largest size must fit, or the queue would be full when it is empty.
void check_memory(const Limits& limits, const KindTable& kinds) {
  if (limits.unsent_bytes() < limits.max_body) {
    refuse("--max-unsent-bytes", "must be at least --max-body, " + std::to_string(limits.max_body) +
                                     ", so that such an upload can begin");
  }
  // The texts of its parameters come in the header.
  const auto extra = job_bytes + limits.max_header + kinds.most_working_bytes(limits.max_body);
  if (limits.max_queued_bytes >= limits.max_body + extra) return;
  refuse("--max-queued-bytes", "must be at least " + std::to_string(limits.max_body + extra) +
                                   ", so that an upload of --max-body bytes fits");
}

/// With a journal in a directory, a client has to have room on the disk for one upload of any size.
void check_disk(const Options& options) {
  const auto& limits = options.limits;
  if (options.data.empty() || limits.max_stored_uploads >= limits.max_body) return;
  refuse("--max-stored-uploads", "must be at least --max-body, " + std::to_string(limits.max_body) +
                                     ", so that such an upload fits");
}

/// Errors: CLI::ParseError.
void parse(CLI::App& app, Options& options, RawOptions& raw, const KindTable& kinds) {
  std::vector<std::string> words(options.arguments.rbegin(), options.arguments.rend() - 1);
  app.parse(std::move(words));
  read_clients(raw, options);
  check_operator(options);
  read_max_wait(raw, options);
  read_commands(raw, options);
  check_journal(options);
  check_memory(options.limits, kinds);
  check_disk(options);
  for (const auto* const option : app.get_options()) {
    options.given.emplace(option->get_name(), CLI::detail::join(option->results(), "\n"));
  }
}

/// With those that take_over() does not read, as nothing of them is kept. Whether there is TLS may
/// not.
bool may_change(const std::string& option, bool has_tls) {
  if (option == "--tls-certificate" || option == "--tls-key") return has_tls;
  static const std::set<std::string> names = {
      "--client",       "--client-file",  "--drain-deadline", "--header-timeout",
      "--idle-timeout", "--body-timeout", "--min-rate",       "--config"};
  return names.contains(option);
}

}  // namespace

std::variant<Options, int> parse_options(int argc, const char* const* argv,
                                         const KindTable& kinds) {
  CLI::App app("Runs jobs on uploaded bytes, by priority: " + kinds.names() + ".", "heistd");
  Options options;
  RawOptions raw;
  options.arguments.assign(argv, argv + argc);
  add_options(app, options, raw);
  try {
    parse(app, options, raw, kinds);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  return options;
}

std::variant<Options, std::string> reread_options(const Options& before, const KindTable& kinds) {
  CLI::App app;
  Options options;
  RawOptions raw;
  options.arguments = before.arguments;
  add_options(app, options, raw);
  try {
    parse(app, options, raw, kinds);
  } catch (const CLI::ParseError& error) {
    return std::string(error.what());
  }
  return options;
}

std::string take_over(Options& options, Options now) {
  std::string others;
  const bool has_tls = options.tls.are_given() && now.tls.are_given();
  for (const auto& [name, text] : now.given) {
    if (text == options.given[name] || may_change(name, has_tls)) continue;
    others += (others.empty() ? "" : ", ") + name;
  }
  auto& limits = options.limits;
  limits.header_timeout = now.limits.header_timeout;
  limits.idle_timeout = now.limits.idle_timeout;
  limits.body_timeout = now.limits.body_timeout;
  limits.min_rate = now.limits.min_rate;
  options.drain_deadline = now.drain_deadline;
  options.client_file = std::move(now.client_file);
  options.clients = std::move(now.clients);
  if (has_tls) options.tls = std::move(now.tls);
  return others;
}

}  // namespace heistd
