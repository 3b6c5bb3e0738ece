// Runs bodies (FORMAT.md 5), and the steps at which they wait (FORMAT.md 6).
#include <algorithm>

#include "support/reference/interpreter.hpp"

namespace heist::reference {

namespace {

bool waits(const Json& step) {
  const Json& op = step.at("op");
  return op == "yield" || op == "await" || (op == "call" && has_flag(step, "wait"));
}

bool any_waits(const Json& steps) { return std::ranges::any_of(steps, waits); }

}  // namespace

Interpreter::Frame& Interpreter::create_frame(const Json& steps, const std::string& label) {
  Frame& frame = frames_.emplace_back();
  frame.steps = &steps;
  frame.label = label;
  return frame;
}

/// Runs a body, but not that of a post or a call.
void Interpreter::run_body(const Json& steps, const std::string& label) {
  Frame& frame = create_frame(steps, label);
  if (any_waits(steps)) frame.promise = &loop_.promises.create();
  go_on(frame);
}

void Interpreter::go_on(Frame& frame) {
  while (frame.cursor < frame.steps->size()) {
    const Json& step = (*frame.steps)[frame.cursor++];
    if (waits(step)) {
      return loop_.promises.attach(start_waiting(frame, step),
                                   [this, &frame, &step](const Outcome& outcome) {
                                     const Error error = end_waiting(frame, step, outcome);
                                     error ? end(frame, error) : go_on(frame);
                                   });
    }
    if (const Error error = run_step(step)) return end(frame, error);
  }
  end(frame, {});
}

void Interpreter::end(Frame& frame, const Error& error) {
  frame.has_ended = true;
  frame.error = error;
  if (error && frame.post == nullptr) record("failed", frame.label, *error);
  if (frame.promise != nullptr) loop_.promises.complete(*frame.promise, completion_of(frame));
}

/// What a body ends with: its error, or else what `throws` or `returns` of its post says.
Completion Interpreter::completion_of(const Frame& frame) {
  if (frame.error) return Completion(Outcome{true, *frame.error});
  if (frame.post == nullptr) return Completion(Outcome{false, "undefined"});
  const Json& post = *frame.post;
  if (post.contains("throws")) return Completion(Outcome{true, post["throws"]});
  const Json value = post.value("returns", Json("undefined"));
  if (value.is_object()) return Completion(task(value.at("task")));
  return Completion(Outcome{false, value});
}

/// Runs the callback of a post.
Completion Interpreter::run_post(const Json& step) {
  record("run", step["id"]);
  Frame& frame = create_frame(body_of(step), step["id"]);
  frame.post = &step;
  const bool is_asynchronous = any_waits(*frame.steps) || has_flag(step, "async");
  if (is_asynchronous) frame.promise = &loop_.promises.create();
  go_on(frame);
  return is_asynchronous ? Completion(*frame.promise) : completion_of(frame);
}

Promise& Interpreter::start_waiting(Frame& frame, const Json& step) {
  const Json& op = step["op"];
  if (op == "await") return task(step.at("id"));
  if (op == "call") return start_call(step);
  ++frame.yields;
  return loop_.scheduler.yield();
}

Promise& Interpreter::start_call(const Json& step) {
  Frame& frame = create_frame(step.at("body"), step.at("label"));
  frame.promise = &loop_.promises.create();
  go_on(frame);
  return *frame.promise;
}

Interpreter::Error Interpreter::end_waiting(Frame& frame, const Json& step,
                                            const Outcome& outcome) {
  if (step["op"] == "await") return end_await(frame, step, outcome);
  return end_yield(frame, step, outcome);
}

/// Ends the wait of a `yield`, or of a `call`, which records nothing when it is fulfilled.
Interpreter::Error Interpreter::end_yield(Frame& frame, const Json& step, const Outcome& outcome) {
  if (!outcome.is_rejected) {
    if (step["op"] == "yield") record("resume", frame.label, frame.yields);
    return {};
  }
  if (!has_flag(step, "catch")) return outcome.value;
  record("caught", frame.label, outcome.value);
  return {};
}

Interpreter::Error Interpreter::end_await(const Frame& frame, const Json& step,
                                          const Outcome& outcome) {
  record("awaited", frame.label, step["id"], outcome.is_rejected ? "rejected" : "resolved",
         outcome.value);
  if (outcome.is_rejected && has_flag(step, "rethrow")) return outcome.value;
  return {};
}

}  // namespace heist::reference
