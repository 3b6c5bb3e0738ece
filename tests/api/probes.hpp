// What the tests of promises, loops and agents share: a loop on a virtual clock, gates, a log of
// errors.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <heist/heist.hpp>
#include <mutex>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace heist {

inline void PrintTo(const CloseReport& report,
                    std::ostream* out) {  // NOLINT(readability-identifier-naming)
  *out << "ran " << report.ran << ", aborted " << report.aborted << ", not started "
       << report.not_started << ", still running " << report.still_running;
}

/// All the tasks that a report is about.
[[nodiscard]] inline std::uint64_t sum_of(const CloseReport& report) {
  return report.ran + report.aborted + report.not_started + report.still_running;
}

}  // namespace heist

namespace heist::test {

/// How long a test waits for what a correct library does at once; reached only when a test fails.
inline constexpr std::chrono::seconds patience{60};

[[nodiscard]] inline EventLoopOptions on_virtual_clock() {
  EventLoopOptions options;
  options.clock = LoopClock::virtual_time;
  return options;
}

/// The report of a close on another thread, if it comes within a test's patience; else `let_go()`
/// has to end it.
template <class Closing, class LetGo>
[[nodiscard]] std::optional<CloseReport> close_in_time(Closing& closing, const CloseMode& mode,
                                                       LetGo let_go) {
  auto closer = std::async(std::launch::async, [&closing, mode] { return closing.close(mode); });
  const bool in_time = closer.wait_for(patience) == std::future_status::ready;
  if (!in_time) let_go();
  const CloseReport report = closer.get();
  return in_time ? std::optional(report) : std::nullopt;
}

/// A door between threads: closed, then open for good.
class Gate {
 public:
  void open() { opened_.set_value(); }
  void wait() const { future_.wait(); }
  [[nodiscard]] bool opens() const {
    return future_.wait_for(patience) == std::future_status::ready;
  }
  [[nodiscard]] bool is_open() const {
    return future_.wait_for(std::chrono::seconds::zero()) == std::future_status::ready;
  }

 private:
  std::promise<void> opened_;
  std::shared_future<void> future_ = opened_.get_future().share();
};

/// Records what reaches the error hook while it lives; one at a time.
class ErrorLog {
 public:
  struct Entry {
    ErrorOrigin origin;
    Reason reason;
    std::thread::id thread;
  };

  ErrorLog() {
    static_cast<void>(take());
    former_ = set_error_hook(&record);
  }
  ~ErrorLog() { set_error_hook(former_); }
  ErrorLog(const ErrorLog&) = delete;
  ErrorLog& operator=(const ErrorLog&) = delete;

  /// What has arrived since the last call.
  [[nodiscard]] static std::vector<Entry> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(entries_, {});
  }

 private:
  static void record(ErrorOrigin origin, const Reason& reason) noexcept {
    const std::lock_guard lock(mutex_);
    entries_.push_back({origin, reason, std::this_thread::get_id()});
  }

  static inline std::mutex mutex_;
  static inline std::vector<Entry> entries_;
  ErrorHook former_ = nullptr;
};

using Trace = std::vector<std::string>;

/// A loop that only the test moves, and a trace to write into.
class LoopTest : public testing::Test {
 protected:
  /// While what the tasks refer to is still there.
  void TearDown() override { loop.close(CloseMode::abort()); }

  /// Runs `callback` as a task of the loop, at once.
  template <class Callback>
  void run_task(Callback&& callback) {
    scheduler.post(std::forward<Callback>(callback));
    loop.run_until_idle();
  }
  /// A callable that writes one line.
  [[nodiscard]] auto note(std::string line) {
    return [this, line = std::move(line)] { trace.push_back(line); };
  }

  Trace trace;
  EventLoop loop{on_virtual_clock()};
  Scheduler scheduler = loop.scheduler();
};

/// Runs `callback` on a thread of its own and waits for it.
template <class Callback>
void on_plain_thread(Callback&& callback) {
  std::thread(std::forward<Callback>(callback)).join();
}

/// What() of the exception `call` throws, with its type: "NotAllowedError", … or "nothing".
template <class Error, class Call>
[[nodiscard]] bool throws(Call&& call) {
  try {
    std::invoke(std::forward<Call>(call));
  } catch (const Error&) {
    return true;
  }
  return false;
}

/// True when the reason is an exception of this type.
template <class Error>
[[nodiscard]] bool is(const Reason& reason) {
  return reason && throws<Error>([&] { reason.rethrow(); });
}

}  // namespace heist::test
