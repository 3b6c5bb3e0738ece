// Arrivals: how a loop's agent takes what other threads posted, in portions where limits wait.
#pragma once

#include <heist/version.hpp>
#include "../concurrent/inbox.hpp"
#include "agent_role.hpp"

namespace HEIST_NAMESPACE::detail {

class LoopCore;

/// A portion may end before everything that was taken from the inbox has arrived. The inbox keeps
/// the rest and counts it, and TaskHome::has_leftovers() says that there is some.
///
/// Thread: the agent.
class Arrivals {
 public:
  Arrivals(LoopCore& loop, Inbox& inbox) noexcept : loop_(loop), inbox_(inbox) {}
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  /// Takes everything that can be taken without running users' code, however much it is.
  void take() noexcept HEIST_ON_AGENT;
  /// Takes everything, and drops references to signals, which runs users' destructors.
  void drain() noexcept HEIST_ON_AGENT;
  /// Does what drain() does, in portions. Returns false, and leaves the rest for later, when a time
  /// limit has ended meanwhile. It also does so when nobody looks after the cluster's delays, as
  /// only their keeper knows whether one of the cluster's limits has ended.
  [[nodiscard]] bool drain_until_limit() noexcept HEIST_ON_AGENT;
  /// Whether a time limit has ended, which goes before whatever has not been taken yet.
  [[nodiscard]] bool limit_is_first() noexcept HEIST_ON_AGENT;
  /// Takes everything, and refuses what comes later.
  void close() noexcept HEIST_ON_AGENT;

 private:
  /// How many nodes arrive, or are put into the order of their posts, between two looks at the time
  /// limits.
  static constexpr unsigned portion = 1024;
  static constexpr unsigned turned_portion = 8192;

  void arrive_all(LoopNode* oldest) noexcept HEIST_ON_AGENT;
  void arrive_some(TakenNodes& taken) noexcept HEIST_ON_AGENT;
  void arrive_left() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool arrive_until_limit() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool arrive_until_limit(TakenNodes& taken) noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool arm_until_limit() noexcept HEIST_ON_AGENT;
  void arm_limits() noexcept HEIST_ON_AGENT;
  [[nodiscard]] bool cluster_is_first() noexcept HEIST_ON_AGENT;

  LoopCore& loop_;
  Inbox& inbox_;
};

}  // namespace HEIST_NAMESPACE::detail
