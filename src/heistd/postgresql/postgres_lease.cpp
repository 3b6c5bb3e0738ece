#include <ctime>
#include <heistd/postgresql/postgres_lease.hpp>
#include <utility>

namespace heistd {

PostgresLease::Clock::time_point PostgresLease::Clock::now() noexcept {
  std::timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

/// Without memory for one of the timers, the other one comes, and sees that the lease is over.
void PostgresLease::renewed(Clock::time_point sent) {
  if (sent_ && sent <= *sent_) return;
  call_at(end_, sent + lease_ / 2, [this] { on_end(); });
  sent_ = sent;
  call_at(renewal_, sent + lease_ / 4, [this] { on_renewal(); });
}

void PostgresLease::end() {
  renewal_.cancel();
  end_.cancel();
  if (std::exchange(sent_, std::nullopt)) events_.lapsed();
}

/// An earlier call of the timer's is dropped. Timers stand still while the machine sleeps, so each
/// of them looks at the clock when it comes, and the renewals come often.
template <class Function>
void PostgresLease::call_at(boost::asio::steady_timer& timer, Clock::time_point time,
                            Function function) {
  timer.expires_after(time - now_());
  timer.async_wait([weak = std::weak_ptr(alive_), function](const auto& error) {
    if (!error && !weak.expired()) function();
  });
}

/// The answer may be lost, or late.
void PostgresLease::on_renewal() {
  if (!sent_) return;
  if (!holds()) return end();
  call_at(renewal_, now_() + lease_ / 8, [this] { on_renewal(); });
  events_.renew();
}

/// The timer may have been under way already when the lease was renewed.
void PostgresLease::on_end() {
  if (sent_ && !holds()) end();
}

}  // namespace heistd
