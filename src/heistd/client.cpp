#include <openssl/evp.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <heistd/client.hpp>
#include <heistd/connections.hpp>
#include <new>

namespace heistd {
namespace {

std::string hash_of(std::string_view token) {
  std::string hash(EVP_MAX_MD_SIZE, '\0');
  unsigned int size = 0;
  auto* bytes = reinterpret_cast<unsigned char*>(hash.data());
  if (EVP_Digest(token.data(), token.size(), bytes, &size, EVP_sha256(), nullptr) != 1) {
    throw std::bad_alloc();  // every OpenSSL has SHA-256: only memory can have been missing
  }
  hash.resize(size);
  return hash;
}

Refusal unauthorized(std::string message) {
  return {401, "unauthorized", std::move(message), "Authorization"};
}

}  // namespace

Client::Client(std::string its_name, heist::TaskPriority its_ceiling, const Limits& limits,
               bool is_anonymous)
    : name(std::move(its_name)),
      ceiling(its_ceiling),
      anonymous(is_anonymous),
      budget(std::make_shared<Budget>(limits.max_queued, limits.max_queued_bytes,
                                      limits.max_stored_uploads)),
      jobs(limits.max_results, limits.max_result_bytes),
      waiting(budget),
      signals(max_signals),
      waits(ConnectionShares(limits).waiting),
      unsent_bytes(limits.unsent_bytes()),
      outgoing(limits.max_queued_bytes) {}

std::array<Depth, 3> Client::depths() const {
  const auto now = Clock::now();
  std::array<Depth, 3> depths{};
  for (std::size_t level = 0; level < depths.size(); ++level) {
    depths.at(level) = counts_->at(level).depth(now);
  }
  for (const auto& [signal_name, group] : signals.all()) {
    depths.at(static_cast<std::size_t>(group->priority())) += group->counts->depth(now);
  }
  return depths;
}

void Client::set_limits(const ClientLimits& limits) noexcept {
  limits_ = limits;
  rate_.set(limits, TokenBucket::TimePoint::clock::now());
  run_places.set_most(limits.running);
}

std::array<std::chrono::nanoseconds, 3> Client::longest_waits() const noexcept {
  const auto now = WaitingJobs::TimePoint::clock::now();
  std::array<std::chrono::nanoseconds, 3> longest{};
  const auto consider = [&](heist::TaskPriority priority, WaitingJobs::TimePoint since) {
    auto& wait = longest.at(static_cast<std::size_t>(priority));
    wait = std::max<std::chrono::nanoseconds>(wait, now - since);
  };
  for (const auto& [key, line] : waiting.lines()) {
    const auto since = line->first_runnable_at();
    if (since && !line->is_held_up()) consider(line->priority(), *since);
  }
  auto left = most_looked_at;
  for (const auto& job : jobs.unfinished()) {
    if (left-- == 0) break;
    if (job->waits_for_agents(now)) consider(job->priority(), job->runnable_at);
  }
  return longest;
}

std::array<bool, 3> Client::levels_to_start() const noexcept {
  std::array<bool, 3> levels{};
  for (std::size_t level = 0; level < levels.size(); ++level) {
    levels.at(level) = may_start(static_cast<heist::TaskPriority>(level));
  }
  return levels;
}

bool Client::may_start(heist::TaskPriority priority) const noexcept {
  if (limits_.running == 0) return true;
  return run_places.taken() + run_places.waiting(priority) + waiting.without_run_place(priority) <
         limits_.running;
}

std::optional<Refusal> Client::take_request(TokenBucket::TimePoint now) {
  const auto wait = rate_.take(now);
  if (!wait) return std::nullopt;
  ++rate_limited;
  Refusal refusal{429, "rate_limited", "this client posts jobs faster than its rate allows"};
  refusal.retry_after = std::chrono::ceil<std::chrono::seconds>(*wait);
  return refusal;
}

Result<Quota::Share> Client::take_wait() {
  auto share = waits.take(1);
  if (share) return std::move(*share);
  return unavailable("too_many_waits", "this client waits for too many jobs already");
}

heist::TaskPriority Client::default_priority() const noexcept {
  return std::min(ceiling, heist::TaskPriority::user_visible);
}

ClientTable::ClientTable(const std::vector<ClientSpec>& specs,
                         std::optional<heist::TaskPriority> anonymous_ceiling, const Limits& limits)
    : limits_(limits) {
  if (anonymous_ceiling) {
    clients_.push_back(
        std::make_unique<Client>(std::string(anonymous_name), *anonymous_ceiling, limits, true));
    anonymous_ = clients_.back().get();
  }
  renew(specs);
}

void ClientTable::renew(const std::vector<ClientSpec>& specs) {
  std::unordered_map<std::string, Client*> by_token;
  for (const auto& spec : specs) {
    if (spec.token.empty()) continue;
    auto* known = find(spec.name);
    if (known == nullptr) {
      clients_.push_back(std::make_unique<Client>(spec.name, spec.ceiling, limits_));
      known = clients_.back().get();
    }
    by_token.emplace(hash_of(spec.token), known);
  }
  ClientLimits of_anonymous;
  for (const auto& spec : specs) {
    auto* const client = find(spec.name);
    if (client == nullptr) continue;  // nobody may come without a token
    if (client == anonymous_) {
      of_anonymous = spec.limits;
    } else {
      client->ceiling = spec.ceiling;
      client->set_limits(spec.limits);
    }
  }
  if (anonymous_ != nullptr) anonymous_->set_limits(of_anonymous);
  by_token_ = std::move(by_token);
}

Client* ClientTable::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(clients_, name, [](auto& client) { return client->name; });
  return found == clients_.end() ? nullptr : found->get();
}

bool ClientTable::set_operator(std::string_view name) noexcept {
  auto* const client = find(name);
  if (client != nullptr) client->is_operator = true;
  return client != nullptr;
}

std::size_t ClientTable::unfinished_jobs() const noexcept {
  std::size_t jobs = waiting_jobs();
  for (const auto& client : clients_) jobs += client->jobs.unfinished().size();
  return jobs;
}

void ClientTable::drop_older_half() noexcept {
  for (const auto& client : clients_) client->jobs.drop_older_half();
}

std::size_t ClientTable::waiting_jobs() const noexcept {
  std::size_t jobs = 0;
  for (const auto& client : clients_) jobs += client->waiting.without_job();
  return jobs;
}

Result<Client*> ClientTable::authenticate(std::optional<std::string_view> authorization) const {
  static constexpr std::string_view scheme = "Bearer ";
  if (!authorization) {
    if (anonymous_ == nullptr) return unauthorized("a token is needed");
    return anonymous_;
  }
  if (!boost::algorithm::istarts_with(*authorization, scheme)) {
    return unauthorized("must be 'Bearer TOKEN'");
  }
  const auto found = by_token_.find(hash_of(authorization->substr(scheme.size())));
  if (found == by_token_.end()) return unauthorized("the token is not known");
  return found->second;
}

}  // namespace heistd
