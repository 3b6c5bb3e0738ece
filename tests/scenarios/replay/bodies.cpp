// Bodies: FORMAT.md 5.
#include <algorithm>
#include <optional>

#include "scenarios/replay/broken_scenario.hpp"
#include "scenarios/replay/interpreter.hpp"
#include "scenarios/replay/values.hpp"

namespace heist::test {

namespace {

bool is_yield(const Json& step) { return step["op"] == "yield"; }

/// What a post gives at the end of its body.
Json result_of(const Json& post) {
  if (post.contains("throws")) throw BodyError(text_of(post, "throws"));
  return post.value("returns", Json("undefined"));
}

}  // namespace

/// The body of anything but a post and a call.
void Interpreter::run_body(const Json& steps, const std::string& label) {
  if (std::ranges::any_of(steps, waits)) {
    static_cast<void>(run_asynchronous({&steps, label}));
    return;
  }
  try {
    run_steps(steps);
  } catch (...) {
    record_failure(label);
  }
}

void Interpreter::run_steps(const Json& steps) {
  for (const Json& step : steps) run_step(step);
}

/// The plain body of a post.
Json Interpreter::run_plain(const Json& step) {
  record("run", step["id"]);
  run_steps(body_of(step));
  return result_of(step);
}

/// Its promise is the body promise, but for errors that nobody waits for. All waiting is in this
/// one frame: a coroutine for a part of it would bring microtasks that the format does not have.
Promise<Json> Interpreter::run_asynchronous(Body body) {
  try {
    int yields = 0;
    for (const Json& step : *body.steps) {
      if (!waits(step)) {
        run_step(step);
        continue;
      }
      std::optional<Promise<Json>> awaited;
      std::optional<Promise<void>> turn;
      if (!is_yield(step)) {
        awaited = awaited_by(step);
      } else if (++yields; options_.yield_form == YieldForm::as_promise) {
        turn = scheduler_.yield();
      }
      Outcome outcome;
      try {
        if (awaited) {
          outcome.value = co_await *awaited;
        } else if (turn) {
          co_await *turn;
        } else {
          co_await scheduler_.yield();
        }
      } catch (...) {
        outcome.reason = Reason::of_current_exception();
      }
      end_waiting(step, body, yields, outcome);
    }
    if (body.post == nullptr) co_return Json("undefined");
    Json result = result_of(*body.post);
    if (!result.is_object()) co_return result;
    // Adoption (FORMAT.md 3.4): one microtask attaches to the promise, its reaction settles ours.
    const Promise<void> attaching = Promise<void>::resolved();
    co_await attaching;
    const Promise<Json> adopted = task(text_of(result, "task"));
    co_return co_await adopted;
  } catch (...) {
    if (body.post == nullptr) record_failure(body.label);
    if (body.post != nullptr || body.is_awaited) throw;
  }
  co_return Json("undefined");
}

Promise<Json> Interpreter::awaited_by(const Json& step) {
  if (step["op"] == "await") return task(text_of(step, "id"));
  return run_asynchronous({&body_of(step), label_of(step), nullptr, true});
}

void Interpreter::end_waiting(const Json& step, const Body& body, int yields,
                              const Outcome& outcome) {
  const bool rejected{outcome.reason};
  if (step["op"] == "await") {
    record("awaited", body.label, step["id"], rejected ? "rejected" : "resolved",
           rejected ? shown(outcome.reason) : outcome.value);
    if (rejected && has_flag(step, "rethrow")) outcome.reason.rethrow();
  } else if (rejected) {
    if (!has_flag(step, "catch")) outcome.reason.rethrow();
    record("caught", body.label, shown(outcome.reason));
  } else if (is_yield(step)) {
    record("resume", body.label, yields);
  }
}

/// Within a handler.
void Interpreter::record_failure(const std::string& label) {
  record("failed", label, shown(Reason::of_current_exception()));
}

}  // namespace heist::test
