// Connections: who may have one, and which one goes when there are too many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <heistd/limits.hpp>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>

namespace heistd {

class Client;

/// How the connections are shared out. What the command line leaves open follows from their number.
struct ConnectionShares {
  explicit ConnectionShares(const Limits& limits) noexcept;

  std::size_t all;      ///< connections
  std::size_t busy;     ///< requests under way: fewer, so that always one connection is idle
  std::size_t client;   ///< requests under way of one client; all without a token are one
  std::size_t address;  ///< connections of one remote network that have shown no token
  std::size_t waiting;  ///< requests of one client that wait for their jobs
};

/// Shares out the server's connections.
///
/// A new connection always gets a place, and so a chance to show a token or to ask for the server's
/// health: when all are taken, the one that has been idle for longest is closed for it, first of
/// those that have shown no token. What can be refused is a request, once its header has come.
///
/// Thread: any.   Blocks: for as long as another thread has one of these calls.   Cost: O(1); for a
/// network that has too many, O(idle connections).
class Connections {
  struct Network;
  using Networks = std::unordered_map<std::string, Network>;

 public:
  explicit Connections(const Limits& limits) noexcept : shares_(limits) {}
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Where one connection stands among the others. It begins idle.
  class Place {
   public:
    /// `network` names the network that the peer is in; it is empty for one that has no limit of
    /// its own, as loopback mostly. `evict` has the connection closed; it is called at most once,
    /// on any thread, and not after the place's end. It must not call the place.
    Place(Connections& connections, const std::string& network, std::function<void()> evict);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

    /// A request of the client begins, or goes on after its pattern was checked. False: there are
    /// too many, and it must be refused.
    [[nodiscard]] bool begin(Client& client) noexcept;
    /// Whose request came last; null: none has come.
    [[nodiscard]] Client* client() const noexcept;
    /// The connection is idle again, as of now.
    void end() noexcept;

   private:
    friend class Connections;
    enum class State : std::uint8_t { idle, busy, evicted };

    Connections& connections_;
    const std::function<void()> evict_;
    std::list<Place*> node_{this};  ///< its entry, which stands in the list of what it is
    const std::list<Place*>::iterator position_ = node_.begin();
    Networks::value_type& network_;
    Client* client_ = nullptr;
    State state_ = State::idle;
  };

  /// Closes the one that has been idle for longest, so that its memory can be used; the newest one
  /// stays, who may just be about to ask for the server's health.
  void evict_idle() noexcept;

 private:
  using Places = std::list<Place*>;
  /// A remote network, as long as it has connections.
  struct Network {
    std::ptrdiff_t connections = 0;
    std::ptrdiff_t strangers = 0;  ///< of them; they have shown no token
    std::ptrdiff_t busy = 0;       ///< of the strangers
  };

  [[nodiscard]] static bool is_stranger(const Place& place) noexcept;
  [[nodiscard]] bool is_full(const std::string& name, std::ptrdiff_t connections) const noexcept;
  [[nodiscard]] bool may_begin(const Place& place, const Client& client) const noexcept;
  [[nodiscard]] Places& list_of(const Place& place) noexcept;
  Networks::value_type& enter(const std::string& name);
  void leave(Place& place) noexcept;
  void make_room(const Networks::value_type& network) noexcept;
  void evict_longest_idle() noexcept;
  void evict(Place& place) noexcept;
  void become(Place& place, Place::State state, Client* client) noexcept;
  static void count(const Place& place, std::ptrdiff_t by) noexcept;

  // For all that follows, what places have, and `requests_under_way` of the clients.
  std::mutex mutex_;
  const ConnectionShares shares_;
  // Whoever has been there for longest comes first.
  Places strangers_;  ///< idle ones that have not shown a token
  Places known_;      ///< idle ones that have
  Places busy_;
  Places evicted_;  ///< closed; their sessions are about to end
  Networks networks_;
};

}  // namespace heistd
