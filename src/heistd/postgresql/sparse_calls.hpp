// SparseCalls: what is to be done at once, but not often.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>

namespace heistd {

/// Calls a function when it is asked to: at once, and after a pause if it has called it just now.
/// However often it was asked within the pause, that is one call.
///
/// Thread: the executor's.   Lifetime: what is called must not destroy it.
class SparseCalls {
 public:
  SparseCalls(const boost::asio::any_io_executor& executor, std::chrono::milliseconds time,
              std::function<void()> call)
      : pause_(executor), time_(time), call_(std::move(call)) {}

  /// A call that throws is left out, and so is a pause for which there is no memory.
  void ask() noexcept;
  /// What was asked for comes now.
  void end_pause() { pause_.cancel(); }

 private:
  boost::asio::steady_timer pause_;
  const std::chrono::milliseconds time_;
  const std::function<void()> call_;
  bool is_pausing_ = false;
  bool is_due_ = false;  ///< after the pause
  const std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heistd
