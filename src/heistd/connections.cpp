#include <algorithm>
#include <heistd/client.hpp>
#include <heistd/connections.hpp>
#include <utility>

namespace heistd {
namespace {

std::size_t given_or(std::size_t given, std::size_t otherwise) noexcept {
  return given > 0 ? given : std::max<std::size_t>(1, otherwise);
}

}  // namespace

ConnectionShares::ConnectionShares(const Limits& limits) noexcept
    : all(limits.max_connections),
      busy(all - std::max<std::size_t>(1, all / 8)),
      client(given_or(limits.max_client_connections, std::min(all * 3 / 4, busy - 1))),
      address(given_or(limits.max_address_connections, all / 4)),
      waiting(given_or(limits.max_waiting, client * 2 / 3)) {}

Connections::Place::Place(Connections& connections, const std::string& network,
                          std::function<void()> evict)
    : connections_(connections), evict_(std::move(evict)), network_(connections.enter(network)) {
  const std::lock_guard lock(connections_.mutex_);
  connections_.make_room(network_);
  auto& strangers = connections_.strangers_;
  strangers.splice(strangers.end(), node_);
  count(*this, 1);
}

Connections::Place::~Place() {
  const std::lock_guard lock(connections_.mutex_);
  connections_.leave(*this);
}

Client* Connections::Place::client() const noexcept {
  const std::lock_guard lock(connections_.mutex_);
  return client_;
}

bool Connections::Place::begin(Client& client) noexcept {
  const std::lock_guard lock(connections_.mutex_);
  if (state_ == State::busy && client_ == &client) return true;
  if (state_ != State::idle || !connections_.may_begin(*this, client)) return false;
  connections_.become(*this, State::busy, &client);
  return true;
}

void Connections::Place::end() noexcept {
  const std::lock_guard lock(connections_.mutex_);
  if (state_ != State::evicted) connections_.become(*this, State::idle, client_);
}

bool Connections::is_stranger(const Place& place) noexcept {
  return place.client_ == nullptr || place.client_->anonymous;
}

bool Connections::is_full(const std::string& name, std::ptrdiff_t connections) const noexcept {
  return !name.empty() && connections >= static_cast<std::ptrdiff_t>(shares_.address);
}

bool Connections::may_begin(const Place& place, const Client& client) const noexcept {
  const auto& [name, network] = place.network_;
  return busy_.size() < shares_.busy &&
         client.requests_under_way < static_cast<std::ptrdiff_t>(shares_.client) &&
         !(client.anonymous && is_full(name, network.busy));
}

Connections::Places& Connections::list_of(const Place& place) noexcept {
  if (place.state_ == Place::State::busy) return busy_;
  if (place.state_ == Place::State::evicted) return evicted_;
  return is_stranger(place) ? strangers_ : known_;
}

Connections::Networks::value_type& Connections::enter(const std::string& name) {
  const std::lock_guard lock(mutex_);
  auto& network = *networks_.try_emplace(name).first;
  ++network.second.connections;
  return network;
}

void Connections::leave(Place& place) noexcept {
  count(place, -1);
  place.node_.splice(place.node_.end(), list_of(place), place.position_);
  if (--place.network_.second.connections == 0) networks_.erase(place.network_.first);
}

void Connections::make_room(const Networks::value_type& network) noexcept {
  if (is_full(network.first, network.second.strangers)) {
    const auto from_there = [&](const Place* place) { return &place->network_ == &network; };
    const auto oldest = std::ranges::find_if(strangers_, from_there);
    if (oldest != strangers_.end()) evict(**oldest);
  }
  if (strangers_.size() + known_.size() + busy_.size() < shares_.all) return;
  // Not all can be busy.
  evict_longest_idle();
}

void Connections::evict_idle() noexcept {
  const std::lock_guard lock(mutex_);
  if (strangers_.size() + known_.size() > 1) evict_longest_idle();
}

void Connections::evict_longest_idle() noexcept {
  evict(strangers_.empty() ? *known_.front() : *strangers_.front());
}

void Connections::evict(Place& place) noexcept {
  become(place, Place::State::evicted, place.client_);
  place.evict_();
}

void Connections::become(Place& place, Place::State state, Client* client) noexcept {
  count(place, -1);
  auto& from = list_of(place);
  place.state_ = state;
  place.client_ = client;
  auto& to = list_of(place);
  to.splice(to.end(), from, place.position_);
  count(place, 1);
}

void Connections::count(const Place& place, std::ptrdiff_t by) noexcept {
  if (place.state_ == Place::State::evicted) return;
  const auto busy = place.state_ == Place::State::busy ? by : 0;
  if (busy != 0) place.client_->requests_under_way += busy;
  if (!is_stranger(place)) return;
  place.network_.second.strangers += by;
  place.network_.second.busy += busy;
}

}  // namespace heistd
