// Client: whom a request comes from, and everything that is that client's alone.
#pragma once

#include <array>
#include <cstddef>
#include <heist/priority.hpp>
#include <heistd/budget.hpp>
#include <heistd/job_store.hpp>
#include <heistd/level_stats.hpp>
#include <heistd/limits.hpp>
#include <heistd/pattern_cache.hpp>
#include <heistd/refusal.hpp>
#include <heistd/signal_group.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace heistd {

/// A client as the operator names it: "NAME:TOKEN:CEILING".
struct ClientSpec {
  std::string name;
  std::string token;
  heist::TaskPriority ceiling = heist::TaskPriority::user_blocking;
};

/// The parsed text, or what is wrong with it.
[[nodiscard]] std::variant<ClientSpec, std::string> parse_client_spec(std::string_view text);

/// Everything that is one client's alone: no request can reach the jobs, signals or figures of another.
///
/// Thread: the network's.
class Client {
 public:
  Client(std::string its_name, heist::TaskPriority its_ceiling, const Limits& limits);

  const std::string name;
  const heist::TaskPriority ceiling;
  const std::shared_ptr<Budget> budget;
  JobStore jobs;
  SignalGroups signals;
  PatternCache patterns;
  std::array<LevelStats, 3> stats;

  [[nodiscard]] LevelStats& stats_of(heist::TaskPriority priority) noexcept {
    return stats.at(static_cast<std::size_t>(priority));
  }
  /// What jobs and signals get that name no priority.
  [[nodiscard]] heist::TaskPriority default_priority() const noexcept;
};

/// All clients, and how requests show which one they come from.
class ClientTable {
 public:
  /// Without a ceiling for anonymous clients, every request needs a token.
  ClientTable(const std::vector<ClientSpec>& specs,
              std::optional<heist::TaskPriority> anonymous_ceiling, const Limits& limits);

  /// The client of an Authorization header's value (none: the anonymous client).
  ///
  /// Errors: 401 "unauthorized".
  [[nodiscard]] Result<Client*> authenticate(std::optional<std::string_view> authorization) const;

  [[nodiscard]] const std::vector<std::unique_ptr<Client>>& all() const noexcept {
    return clients_;
  }

 private:
  std::vector<std::unique_ptr<Client>> clients_;
  Client* anonymous_ = nullptr;
  /// By the token's SHA-256, so that the time a look-up takes says nothing about tokens.
  std::unordered_map<std::string, Client*> by_token_;
};

}  // namespace heistd
