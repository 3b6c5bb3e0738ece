#include <heistd/deadline.hpp>

namespace heistd {
namespace {

/// The step of a longer operation may just have ended when it is cancelled: then the next one is,
/// after this time.
constexpr std::chrono::milliseconds once_more{100};

}  // namespace

void Deadline::set(Clock::time_point deadline) {
  deadline_ = deadline;
  has_passed_ = false;
  if (!is_armed_ || timer_.expiry() > deadline_) arm();
}

void Deadline::arm() {
  is_armed_ = false;
  timer_.expires_at(deadline_);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self) self->on_timer();
  });
  is_armed_ = true;
}

void Deadline::on_timer() {
  is_armed_ = false;
  if (deadline_ == Clock::time_point::max()) return;
  const auto now = Clock::now();
  if (now >= deadline_ && sending_ && sending_->gets_on()) deadline_ = sending_->deadline(now);
  if (now >= deadline_) {
    has_passed_ = true;
    socket_.cancel();
    deadline_ += once_more;
  }
  arm();
}

}  // namespace heistd
