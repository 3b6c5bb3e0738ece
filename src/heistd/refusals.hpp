// Refusals: what a server claims no more for a while, as it cannot have it.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <new>

namespace heistd {

/// Jobs that a server refuses go back to their lanes, and would come again at once. So what has
/// come back to such a lane is left to others for a while, up to the turn of the last one that was
/// refused; that takes the same room for any number of them. It is the oldest jobs that come first,
/// so nothing was passed over that could have come instead, but for what comes back meanwhile.
///
/// The while begins anew as long as each claim brings more of them. So a server comes to what is
/// behind all of them, and those that come later have it begin no more.
///
/// Thread: one at a time.
class Refusals {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::minutes time{1};

  /// Without memory for that the job is not passed over: false.
  bool add(std::int32_t lane, std::int64_t turn) noexcept {
    try {
      goes_on_ |= passed_.empty();
      auto& passed = passed_[lane];
      if (passed < turn) passed = turn;
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  /// A claim was answered, and has brought jobs that were refused, or none of these.
  void note_answer(bool has_refused, Clock::time_point now) noexcept {
    goes_on_ &= has_refused;
    if (goes_on_) until_ = now + time;
  }
  void forget_old(Clock::time_point now) noexcept {
    if (now >= until_) passed_.clear();
  }

  [[nodiscard]] const std::map<std::int32_t, std::int64_t>& passed() const noexcept {
    return passed_;
  }

 private:
  std::map<std::int32_t, std::int64_t> passed_;
  Clock::time_point until_;
  bool goes_on_ = false;
};

}  // namespace heistd
