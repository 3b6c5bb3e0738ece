// Engine: runs one program of virtual threads in all its executions, and stops at the first that
// breaks a promise.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <heist/detail/sync.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "dependencies.hpp"
#include "fiber.hpp"
#include "heap.hpp"
#include "memory.hpp"
#include "path.hpp"
#include "shadow.hpp"

namespace heist::model {

using namespace detail;

/// What one model is explored with.
struct Plan {
  Search search;
  std::uint64_t executions = UINT64_MAX;  ///< at the most
  double seconds = 1e9;                   ///< at the most
  /// Stops this thread for ever before this step of its own.
  struct Freeze {
    ThreadId thread;
    Epoch step;
  };
  std::optional<Freeze> freeze;
  bool prints_steps = false;
};

/// What came out.
struct Outcome {
  std::uint64_t executions = 0;
  bool complete = false;  ///< all executions within the bound were seen
  std::optional<std::string> failure;
  std::string trace;          ///< of the failing execution
  std::uint32_t longest = 0;  ///< steps of the longest execution
  bool froze = false;         ///< the thread to freeze got that far in some execution
  /// The operations it was in then, each with the steps that the others took in all, at the most.
  std::map<std::string_view, std::uint32_t> frozen_in;
};

/// One program at a time; everything happens on the thread that calls explore().
class Engine {
 public:
  static Engine& instance();

  Outcome explore(void (*program)(), const Plan& plan);

  // For models.
  ThreadId spawn(std::function<void()> body);
  /// Waits for all threads the caller has spawned; false when a thread of the program is frozen.
  bool join_all();
  /// Ends the execution: no thread goes on.
  [[noreturn]] void fail(const std::string& what);

  [[nodiscard]] const void* this_thread() const noexcept {
    return &threads_[static_cast<std::size_t>(current_)];
  }
  void watch(bool on) noexcept { inside_ = !on; }
  /// The running thread is in this operation from now on; says what it was in before.
  const char* enter(const char* operation) noexcept {
    return std::exchange(me().operation, operation);
  }

  // For the hooks: steps of the running thread.

  /// The engine, called by `code`, if it watches the program under test: not while it works itself.
  static Engine* watching(Code code) noexcept {
    if (made_ == nullptr || !made_->running_ || made_->inside_) return nullptr;
    made_->code_ = code;
    return made_;
  }
  /// The engine that may own a block; null before there is one.
  static Engine* made() noexcept { return made_; }
  void created(Cell cell, Word value);
  Word load(Cell cell, std::memory_order order, Where where);
  void store(Cell cell, Word value, std::memory_order order, Where where);
  Word update(Cell cell, Update what, Word operand, std::memory_order order, Where where);
  bool compare_exchange(Cell cell, Word& expected, Word desired, std::memory_order success,
                        std::memory_order failure, Where where);
  void sleep_on(Cell cell, Word expected, bool timed, Where where);
  void wake(Cell cell, int how_many, Where where);
  void touch(const void* begin, std::size_t bytes, AccessKind kind);
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment);
  /// False: not memory of an execution.
  bool release(void* begin);

  /// Marks the engine's own work.
  class Inside {
   public:
    explicit Inside(Engine& engine) noexcept : engine_(engine), before_(engine.inside_) {
      engine.inside_ = true;
    }
    ~Inside() { engine_.inside_ = before_; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Engine& engine_;
    bool before_;
  };

 private:
  enum class State : std::uint8_t { unused, ready, asleep, dozing, joining, done, frozen };
  struct Thread {
    std::unique_ptr<Fiber> fiber;
    std::function<void()> body;
    VectorClock clock;
    State state = State::unused;
    const void* asleep_on = nullptr;
    ThreadSet spawned = 0;
    Epoch steps = 0;
    const char* operation = nullptr;
  };
  static constexpr std::uint32_t step_limit = 20'000;

  Engine();
  static void thread_main();
  void run_once();
  void begin_execution();
  void run_body();
  void finish();

  [[nodiscard]] Thread& me() noexcept { return threads_[static_cast<std::size_t>(current_)]; }
  [[nodiscard]] Viewer viewer() noexcept { return {current_, me().clock}; }
  [[nodiscard]] ThreadSet enabled() const noexcept;
  [[nodiscard]] bool all_done(ThreadSet threads) const noexcept;
  /// Lets the path decide who goes on; returns when it is the caller's turn.
  void reschedule();
  void nobody_can_go_on();
  void switch_to(ThreadId thread);
  void step(Cell cell, bool writes);
  void depend(Cell cell, bool writes);
  void stored();
  [[nodiscard]] ThreadSet sleeping_on(Cell cell) const noexcept;
  void freeze_if_due();
  void trace(const char* what, Cell cell, Word value, std::memory_order order, Where where);
  void leak_check();
  void note_progress();
  void report(const Conflict& conflict, const void* address, std::size_t bytes);
  void record_failure(const std::string& what);

  static inline constinit Engine* made_ = nullptr;

  std::array<Thread, max_threads> threads_;
  std::unique_ptr<Fiber> outside_;
  ThreadId current_ = 0;
  bool running_ = false;
  bool inside_ = false;
  bool failed_ = false;
  bool alone_ = true;
  std::uint32_t steps_ = 0;
  Code code_ = nullptr;

  void (*program_)() = nullptr;
  const Plan* plan_ = nullptr;
  std::unique_ptr<Path> path_;
  Outcome outcome_;

  Memory memory_;
  Shadow shadow_;
  Heap heap_;
  Dependencies dependencies_;
};

}  // namespace heist::model
