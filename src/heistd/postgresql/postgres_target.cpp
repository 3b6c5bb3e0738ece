#include <algorithm>
#include <heistd/postgresql/postgres_target.hpp>
#include <memory>
#include <new>
#include <stdexcept>

namespace heistd {
namespace {

struct FreeOptions {
  void operator()(::PQconninfoOption* options) const noexcept { ::PQconninfoFree(options); }
};
using ConnectionOptions = std::unique_ptr<::PQconninfoOption, FreeOptions>;

/// libpq's message may quote a part of the string, and so of a password.
ConnectionOptions parse(const std::string& text) {
  char* message = nullptr;
  ConnectionOptions options(::PQconninfoParse(text.c_str(), &message));
  ::PQfreemem(message);
  if (options) return options;
  throw std::invalid_argument(
      "the connection string of PostgreSQL cannot be read; write pairs such as host=db.example "
      "dbname=jobs user=heistd, with the keys of libpq and with values that have spaces in single "
      "quotes, or a URI such as postgresql://heistd@db.example/jobs");
}

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char letter : list) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(letter);
    }
  }
  return parts;
}

/// What stands in the environment of other keys, libpq finds itself.
bool is_read_here(std::string_view key) noexcept {
  return key == "host" || key == "hostaddr" || key == "port" || key == "options";
}

void append(std::string& list, const std::string& part, bool is_first) {
  if (!is_first) list += ',';
  list += part;
}

}  // namespace

PostgresTarget::PostgresTarget(const std::string& text) {
  const auto options = parse(text);
  for (auto* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) parameters_.emplace_back(option->keyword, option->val);
  }
  if (!value_of("service").empty()) {
    throw std::invalid_argument(
        "the connection string of PostgreSQL names a service; write what its file has instead");
  }
  const ConnectionOptions defaults(::PQconndefaults());
  if (!defaults) throw std::bad_alloc();
  for (auto* option = defaults.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr && is_read_here(option->keyword))
      set_default(option->keyword, option->val);
  }
  set_default("fallback_application_name", "heistd");
  set_default("client_encoding", "UTF8");
  set_default("keepalives_idle", "5");
  set_default("keepalives_interval", "3");
  set_default("keepalives_count", "3");
  set_default("tcp_user_timeout", "15000");
  // It would look for tickets of Kerberos, and might ask the network for them.
  set_default("gssencmode", "disable");
  read_hosts();
}

std::string PostgresTarget::value_of(std::string_view key) const {
  const auto found = std::ranges::find(parameters_, key, &Parameter::first);
  return found == parameters_.end() ? "" : found->second;
}

void PostgresTarget::set_default(const char* key, std::string value) {
  if (value_of(key).empty()) parameters_.emplace_back(key, std::move(value));
}

void PostgresTarget::read_hosts() {
  if (!value_of("hostaddr").empty()) return;
  const auto names = parts_of(value_of("host"));
  const auto ports = parts_of(value_of("port"));
  if (ports.size() != 1 && ports.size() != names.size()) {
    throw std::invalid_argument(
        "the connection string of PostgreSQL has " + std::to_string(names.size()) + " hosts and " +
        std::to_string(ports.size()) + " ports; there must be one port, or one for each host");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i].find('@', 1) != std::string::npos) {
      throw std::invalid_argument(
          "the connection string of PostgreSQL has an @ in the name of a host; write one that "
          "belongs to a password as %40");
    }
    hosts_.push_back({names[i], ports.size() == 1 ? ports.front() : ports[i]});
  }
  std::erase_if(parameters_, [](const Parameter& parameter) {
    return parameter.first == "host" || parameter.first == "port";
  });
}

/// The connection may be given up while the server works for it: it looks after that itself.
PostgresTarget::Parameters PostgresTarget::parameters_for(
    const std::vector<Place>& places, std::chrono::milliseconds statement_time) const {
  auto parameters = parameters_;
  std::erase_if(parameters, [](const Parameter& one) { return one.first == "options"; });
  parameters.emplace_back("options",
                          value_of("options") + " -c client_connection_check_interval=2s" +
                              " -c statement_timeout=" + std::to_string(statement_time.count()));
  if (places.empty()) return parameters;
  std::string names;
  std::string addresses;
  std::string ports;
  for (const auto& place : places) {
    const bool is_first = &place == &places.front();
    append(names, place.host.name, is_first);
    append(addresses, place.address, is_first);
    append(ports, place.host.port, is_first);
  }
  parameters.emplace_back("host", names);
  parameters.emplace_back("hostaddr", addresses);
  parameters.emplace_back("port", ports);
  return parameters;
}

::PGconn* PostgresTarget::connect(const std::vector<Place>& places,
                                  std::chrono::milliseconds statement_time) const {
  const auto parameters = parameters_for(places, statement_time);
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : parameters) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  keys.push_back(nullptr);
  values.push_back(nullptr);
  auto* const connection = ::PQconnectStartParams(keys.data(), values.data(), 0);
  if (connection == nullptr) throw std::bad_alloc();
  return connection;
}

}  // namespace heistd
