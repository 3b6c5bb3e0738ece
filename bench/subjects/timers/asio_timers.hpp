// Boost.Asio's steady_timer, which the user keeps. A cancelled one has its handler run with an
// error.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "../../completion.hpp"
#include "../asio.hpp"

namespace bench {

class AsioTimers : public AsioSubject {
 public:
  ~AsioTimers() { finish(); }
  void reserve(std::int64_t count) { timers_.reserve(std::size_t(count)); }
  template <class F>
  void arm(std::chrono::nanoseconds delay, F f) {
    timers_.emplace_back(context(), delay)
        .async_wait([f = std::move(f)](const boost::system::error_code& error) mutable {
          if (!error) f();
        });
  }
  void arm_cancellable(std::chrono::nanoseconds delay, Completion& gone) {
    timers_.emplace_back(context(), delay)
        .async_wait([&gone](const boost::system::error_code& error) {
          if (!error) std::abort();
          gone.add(1);
        });
  }
  void cancel(std::int64_t index) { timers_[std::size_t(index)].cancel(); }
  [[nodiscard]] std::int64_t count_armed() {
    finish();
    std::size_t armed = 0;
    for (auto& timer : timers_) armed += timer.cancel();
    return std::int64_t(armed);
  }

 private:
  std::vector<boost::asio::steady_timer> timers_;
};

}  // namespace bench
