#include <algorithm>
#include <exception>
#include <heistd/trim_pulse.hpp>

namespace heistd {

TrimPulse::TrimPulse(JobKeeper* keeper, std::chrono::milliseconds age, boost::asio::io_context& io)
    : keeper_(keeper),
      interval_(std::clamp<std::chrono::milliseconds>(age / 10, std::chrono::seconds(1),
                                                      std::chrono::minutes(1))),
      timer_(io) {}

/// The timer only makes an event, and so does the journal's answer.
bool TrimPulse::beat(Clock::time_point now) noexcept {
  if (keeper_ == nullptr || now < next_) return true;
  try {
    keeper_->when(keeper_->journal().trim(), [this](const JournalResult<std::size_t>& dropped) {
      if (dropped && *dropped >= JobJournal::trimmed_at_a_time) next_ = {};
    });
    timer_.expires_after(interval_);
    timer_.async_wait([](const boost::system::error_code& /*none*/) {});
  } catch (const std::exception&) {
    return false;
  }
  next_ = now + interval_;
  return true;
}

}  // namespace heistd
