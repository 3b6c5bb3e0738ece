// The virtual host of the cooperative corpus (tests/conformance/cooperative/FORMAT.md 2 and 6).
#pragma once

#include <functional>
#include <heist/cooperative_host.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heist::test {

/// A clock that moves when it is told to, and the messages and timeouts that wait for it.
class VirtualHost final : public CooperativeHost {
 public:
  explicit VirtualHost(double start) : clock_(start) {}

  /// What calls the scheduler.   Precondition: before anything is delivered.
  void serve(std::function<void()> on_message, std::function<void()> on_timeout) {
    on_message_ = std::move(on_message);
    on_timeout_ = std::move(on_timeout);
  }

  // The scheduler's side.
  void post_message() noexcept override;
  void set_timeout(Milliseconds delay) noexcept override;
  void clear_timeout() noexcept override;
  [[nodiscard]] Milliseconds now() const noexcept override { return Milliseconds(clock_); }

  // The scenario's.
  [[nodiscard]] double clock() const noexcept { return clock_; }
  [[nodiscard]] bool has_message() const noexcept;
  /// Nothing is delivered meanwhile.
  void be_busy(double duration) noexcept { clock_ += duration; }
  // Errors: std::runtime_error when it does not end.
  void advance(double duration);
  /// False: there is no message.
  [[nodiscard]] bool flush_message();
  void fire_timeouts();
  void flush_all();
  /// The trace, to the end.
  [[nodiscard]] nlohmann::json end();

 private:
  struct Event {
    double due;
    int timeout;  ///< its number; 0: a message
  };
  /// In the order of their creation, so that the first one of the least due is the earliest.
  using Events = std::vector<Event>;

  template <class Which>
  [[nodiscard]] Events::iterator earliest(Which which);
  /// Delivers the earliest of those events; false: there is none.
  template <class Which>
  bool deliver_one(Which which);
  void deliver(Event event);
  void record(nlohmann::json event) noexcept { trace_.push_back(std::move(event)); }

  double clock_;
  int timeouts_ = 0;
  int deliveries_ = 0;
  Events pending_;
  nlohmann::json trace_ = nlohmann::json::array();
  std::function<void()> on_message_;
  std::function<void()> on_timeout_;
};

}  // namespace heist::test
