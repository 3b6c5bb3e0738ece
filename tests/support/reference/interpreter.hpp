// Interpreter: runs a scenario on the event loop of the reference model
// (tests/conformance/posttask/FORMAT.md 4 to 8). Each run of a body has a frame with a cursor, so
// that it can wait at a step and go on after it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

#include "support/reference/event_loop.hpp"

namespace heist::reference {

/// The scenario does what FORMAT.md rules out. For example, it posts an id twice, or names a task
/// or a signal that is not there yet.
struct Malformed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Interpreter {
 public:
  explicit Interpreter(Notice notice) : loop_(notice) {}

  /// Runs the whole scenario.   Errors: Malformed, nlohmann::json::exception.
  void run(const Json& scenario);

  [[nodiscard]] const Json& trace() const { return trace_; }
  /// Why the format rules the scenario out, or allows other traces too. It is empty when neither is
  /// so.
  [[nodiscard]] std::string objection() const;

 private:
  using Error = std::optional<Json>;  ///< the reason with which a body ends, if it ends with one

  /// One run of a body.
  struct Frame {
    const Json* steps = nullptr;
    std::string label;
    const Json* post = nullptr;  ///< the step whose body this is, if that is a post
    Promise* promise = nullptr;  ///< the body promise, if the body is asynchronous
    std::size_t cursor = 0;
    int yields = 0;
    bool has_ended = false;
    Error error;
  };

  struct NamedSignal {
    std::string kind;
    Signal* signal = nullptr;
  };

  template <class... Parts>
  void record(Parts&&... parts) {
    trace_.push_back(Json::array({Json(std::forward<Parts>(parts))...}));
  }

  // Bodies (FORMAT.md 5).
  Frame& create_frame(const Json& steps, const std::string& label);
  void run_body(const Json& steps, const std::string& label);
  void go_on(Frame& frame);
  void end(Frame& frame, const Error& error);
  [[nodiscard]] Completion completion_of(const Frame& frame);
  [[nodiscard]] Completion run_post(const Json& step);

  // Waiting steps (FORMAT.md 6).
  [[nodiscard]] Promise& start_waiting(Frame& frame, const Json& step);
  [[nodiscard]] Error end_waiting(Frame& frame, const Json& step, const Outcome& outcome);
  [[nodiscard]] Error end_yield(Frame& frame, const Json& step, const Outcome& outcome);
  [[nodiscard]] Error end_await(const Frame& frame, const Json& step, const Outcome& outcome);
  [[nodiscard]] Promise& start_call(const Json& step);

  // The other steps.
  [[nodiscard]] Error run_step(const Json& step);
  void post(const Json& step);
  void then(const Json& step);
  void microtask(const Json& step);
  void timer(const Json& step);
  void spin(const Json& step);

  // Steps on signals.
  void create(const Json& definition);
  [[nodiscard]] Signal& signal_of(const Json& definition);
  [[nodiscard]] Signal& task_any(const Json& definition);
  [[nodiscard]] Signal& timeout(const Json& definition);
  void abort(const Json& step);
  void set_priority(const Json& step);
  void listen(const Json& step);
  void hear(const Json& step, Json event);
  void read(const Json& step);
  [[nodiscard]] Error throw_if_aborted(const Json& step);

  [[nodiscard]] NamedSignal& named(const Json& name);
  [[nodiscard]] Signal& task_signal(const Json& name);
  [[nodiscard]] std::vector<Signal*> sources_of(const Json& definition);
  [[nodiscard]] Promise& task(const Json& id);

  EventLoop loop_;
  Json trace_ = Json::array();
  std::map<std::string, NamedSignal> signals_;
  std::map<std::string, Promise*> tasks_;
  std::deque<Frame> frames_;
  std::size_t steps_run_ = 0;
  bool was_too_close_ = false;
};

/// The body of a step, which is empty when the step has none (FORMAT.md 6).
[[nodiscard]] const Json& body_of(const Json& step);
/// Whether the step has that member and it is true.
[[nodiscard]] bool has_flag(const Json& step, const char* name);
/// The reason that a step or a signal's definition gives, or that of an abort without a reason.
[[nodiscard]] Json reason_of(const Json& object);

}  // namespace heist::reference
