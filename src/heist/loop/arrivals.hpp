// Arrivals: how a loop's agent takes what other threads posted, in portions where limits wait.
#pragma once

#include <heist/version.hpp>
#include "../concurrent/inbox.hpp"
#include "agent_role.hpp"

namespace HEIST_NAMESPACE::detail {

class LoopCore;

/// What was taken from the inbox and has not arrived is left there, where it is counted, and shows
/// in TaskHome::has_leftovers().
///
/// Agent only.
class Arrivals {
 public:
  Arrivals(LoopCore& loop, Inbox& inbox) noexcept : loop_(loop), inbox_(inbox) {}
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  /// Takes all of it, however much it is, but for what runs users' code.
  void take() noexcept HEIST_ON_AGENT;
  /// The same, and drops references to signals, which runs users' destructors.
  void drain() noexcept HEIST_ON_AGENT;
  /// As drain(), in portions. Returns false when a time limit has ended meanwhile, or the cluster
  /// is to be looked after, whose limits only a keeper knows; the rest waits.
  [[nodiscard]] bool drain_until_limit() noexcept HEIST_ON_AGENT;
  /// Whether a limit has ended that does not wait until all that was sent here has been taken.
  [[nodiscard]] bool limit_is_first() noexcept HEIST_ON_AGENT;
  /// Takes all, and refuses more.
  void close() noexcept HEIST_ON_AGENT;

 private:
  /// How many nodes arrive, or are turned round to arrive, between two looks at the time limits.
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
