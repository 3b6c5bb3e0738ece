// Host: the virtual host of the cooperative reference model
// (tests/conformance/cooperative/FORMAT.md 2 and 6).
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace heist::reference::cooperative {

using Json = nlohmann::json;

struct Host {
  struct Event {
    double due;
    int seq;
    int timeout;  ///< its number; 0 stands for a message
  };
  using Which = std::function<bool(const Event&)>;

  void post();
  void set_timeout(double ms);
  /// Clears the timeout that was set last.
  void clear_timeout();
  /// Delivers the earliest event for which `which` is true. Returns false when there is none.
  bool deliver(const Which& which);
  void advance(double ms);
  [[nodiscard]] int count(bool messages) const;

  double clock = 0;
  int seq = 0;
  int timeouts = 0;
  std::vector<Event> pending;
  Json trace = Json::array();
  std::function<void()> on_message;
  std::function<void()> on_timeout;
};

}  // namespace heist::reference::cooperative
