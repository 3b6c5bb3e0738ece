// WaitCore: what semaphores, mutexes, events and channels have in common.
#pragma once

#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <heist/detail/wait_line.hpp>
#include <heist/detail/waiter.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// Gives those who wait what they wait for, one server at a time, without anybody waiting for the
/// server: who comes while there is one leaves a request behind and goes.
///
/// Roles   owner: has the handle.  waiter, aborter: WaitLine's.  giver: any thread that changes
///         what is waited for.  server: one of all these at a time.
/// States  requests_: zero, or how often somebody has asked since the server began, with itself.
/// I1      Whoever changes what the server looks at asks afterwards. A server that has not seen the
///         change sees the request before it ends, and looks again.
/// I2      The server settles nothing, and drops no share, before it has ended as the server. So no
///         user code runs within, and a waiter that goes on finds the next server free to come.
/// I3      A waiter that joins after the owner has gone is refused by a server that it asks for.
/// Edge wait_line: serve -> serve, seen. A server sees what the one before has done, and what those
///         who have asked did before.
/// Reclamation  shares: the owner's, the waiters', and those of permits.
/// Progress  lock-free. A server that is stopped delays those who wait, and nobody else.
/// Proof   stress/model/models/primitives.cpp, stress/primitives_stress.cpp
class HEIST_EXPORT WaitCore {
 public:
  WaitCore(const WaitCore&) = delete;
  WaitCore& operator=(const WaitCore&) = delete;

  /// Called by an aborter for a waiter that it has claimed, before it settles the waiter, and after
  /// that.
  virtual void end_lending(Waiter& /*waiter*/) noexcept {}
  void forget(Waiter& waiter) noexcept;
  /// Called once, by the owner, who goes: all waits end with an error.
  void close() noexcept;

 protected:
  /// What a server has taken out of lines. It is settled when another server may come.
  struct Served {
    WaiterList granted;
    WaiterList refused;
    WaiterList gone;
  };

  WaitCore() noexcept = default;
  ~WaitCore() = default;

  /// For callers that have a share: serves now, or has the present server do so.
  void serve() noexcept;
  /// The waiter, and a share of it, go to the line; precondition: as serve().
  void join(Waiter& waiter) noexcept {
    line_.join(waiter);
    serve();
  }
  /// Does the same for a core that asks for a server itself.
  void put_in_line(Waiter& waiter) noexcept { line_.join(waiter); }
  [[nodiscard]] WaitLine& line() noexcept { return line_; }

 private:
  /// Called by the server, when the line is up to date: moves those who get what they wait for to
  /// `granted`. `left` waiters were aborted.
  virtual void serve_some(WaiterList& granted, std::uint32_t left) noexcept = 0;
  void serve_round(Served& served) noexcept;
  static void settle(Served& served) noexcept;

  sync::atomic<std::uint32_t> requests_{0};
  sync::atomic<bool> closed_{false};
  WaitLine line_;
};

}  // namespace HEIST_NAMESPACE::detail
