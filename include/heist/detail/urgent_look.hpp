// UrgentLook: by what a running task knows that nothing more urgent waits, without a call.
#pragma once

#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/detail/forward.hpp>
#include <heist/detail/sync.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// A look at all that waits for an agent costs several nanoseconds. One that has found nothing more
/// urgent holds until one of a few words changes that other threads write, or until the agent
/// itself changes something (ADR 0051).
///
/// Roles   agent: reads and writes it; each loop has one.  poster: any thread; writes the words.
/// I1      While `holds` is true, TaskHome::has_leftovers() is true as well: LoopCore changes that
///         only by note_leftovers(), which forgets the look. Each own post and each pick sees it,
///         and forgets the look first. So does whatever takes the inbox.
/// I2      While `holds` is true, the loop has no delay and no time limit armed, so that the clock
///         ends none. If its cluster has one, has_news() is true.
/// I3      The look began after the words had the values that it goes by. Whatever another thread
///         has made more urgent since then has changed one of them. (A time limit of a cluster does
///         so with its notice, which another poster may still have to send.)
/// I4      Whoever changes what the agent runs within a task, ends a task that has signals, or runs
///         users' destructors within a pick, forgets the look. So no task starts with a look, which
///         would be another one's, and the words of a signal are read only while it exists.
/// Progress  wait-free. A store of another thread becomes visible in finite time.
/// Proof   stress/model/models/urgent_look.cpp, tests/yield/yield_if_urgent_test.cpp,
///         tests/yield/held_look_test.cpp, tests/cluster/urgent_waiting_test.cpp,
///         stress/urgent_waiting_stress.cpp
struct alignas(64) UrgentLook {
  /// Whether the last look may not hold any more.
  [[nodiscard]] bool has_news() const noexcept {
    if (!holds) return true;
    // relaxed, all six: nothing is read on the strength of them; look_for_urgent() looks again.
    const std::uint64_t posts = inbox->load(sync::relaxed) | cluster_inbox->load(sync::relaxed);
    const std::uint64_t due = ~first_due->load(sync::relaxed);          // relaxed: as above.
    const std::uint64_t level = hint->load(sync::relaxed) ^ hint_seen;  // relaxed: as above.
    const std::uint32_t priority =
        own_priority->load(sync::relaxed) ^ priority_seen;     // relaxed: as above.
    const std::uint32_t asked = recheck->load(sync::relaxed);  // relaxed: as above.
    return (posts | due | (level & hint_mask) | (priority | asked)) != 0;
  }
  /// Whether a yield would throw, while the look holds.
  [[nodiscard]] bool is_aborted() const noexcept {
    return abort_reason->load(sync::relaxed) != nullptr;  // relaxed: as above.
  }
  static constexpr std::uint64_t hint_mask = 255;  ///< of level and target; the rest is a version

  void forget() noexcept { holds = false; }

  const sync::atomic<std::uintptr_t>* inbox = nullptr;   ///< zero when nothing has come
  const sync::atomic<std::uint32_t>* recheck = nullptr;  ///< LoopCore::request_recheck()
  const sync::atomic<std::uintptr_t>* cluster_inbox = nullptr;
  const sync::atomic<std::uint64_t>* first_due = nullptr;  ///< of the cluster's delays
  const sync::atomic<std::uint64_t>* hint = nullptr;       ///< the cluster's UrgencyHint
  // These are of the signals of the running task, which exist as long as the look holds.
  const sync::atomic<std::uint32_t>* own_priority = nullptr;
  const sync::atomic<ReasonBox*>* abort_reason = nullptr;
  std::uint32_t priority_seen = 0;
  std::uint8_t hint_seen = 0;
  bool holds = false;
};

/// That of the loop that this thread drives. Where it drives none there is one that never holds.
HEIST_EXPORT
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const UrgentLook* urgent_look;

/// Looks at all that waits for this agent, and notes it if that is nothing more urgent.
[[nodiscard]] HEIST_EXPORT bool look_for_urgent() noexcept;

}  // namespace HEIST_NAMESPACE::detail
