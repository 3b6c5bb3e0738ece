// Refusals: what a server claims no more for a while, as it cannot have it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heistd/postgresql/postgres_claims.hpp>
#include <map>
#include <new>

namespace heistd {

/// Jobs that a server refuses go back to their lanes, and would come again at once. So what has
/// come back to such a lane is left to others for a while, from the turn of the oldest one that was
/// refused to that of the last one. That takes the same room for any number of them. It is the
/// oldest jobs that come first, so nothing between them could have come instead, but for what gets
/// there meanwhile.
///
/// The while begins anew as long as there come more of them from behind the last one, however long
/// that takes and whatever else comes in between. So a server gets to what is behind all of them.
/// Where they come for ever, all of them are tried again after an hour.
///
/// Thread: one at a time.
class Refusals {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::minutes time{1};
  static constexpr std::chrono::hours most_time{1};

  /// Without memory for that the job is not passed over: false.
  bool add(std::int32_t lane, std::int64_t turn, Clock::time_point now) noexcept {
    try {
      if (passed_.empty()) since_ = now;
      const auto [place, is_new] = passed_.try_emplace(lane, PassedTurns{turn, turn});
      auto& passed = place->second;
      passed.first = std::min(passed.first, turn);
      if (!is_new && passed.last >= turn) return true;
      passed.last = turn;
      until_ = std::min(now + time, since_ + most_time);
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  void forget_old(Clock::time_point now) noexcept {
    if (now >= until_) passed_.clear();
  }

  [[nodiscard]] const std::map<std::int32_t, PassedTurns>& passed() const noexcept {
    return passed_;
  }

 private:
  std::map<std::int32_t, PassedTurns> passed_;
  Clock::time_point since_;  ///< something has been passed over
  Clock::time_point until_;
};

}  // namespace heistd
