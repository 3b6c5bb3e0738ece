// The steps about tasks and their promises: post, then (FORMAT.md 6).
#include "scenarios/replay/broken_scenario.hpp"
#include "scenarios/replay/interpreter.hpp"
#include "scenarios/replay/values.hpp"

namespace heist::test {

void Interpreter::post(const Json& step) {
  const auto id = text_of(step, "id");
  const auto promise = post_task(step);
  attach(
      promise, [this, id](const Json& value) { record("resolved", id, value); },
      [this, id](const Reason& reason) { record("rejected", id, shown(reason)); });
  if (!tasks_.emplace(id, promise).second) throw BrokenScenario(id + " is posted twice");
}

Promise<Json> Interpreter::post_task(const Json& step) {
  const auto options = options_of(step);
  if (is_asynchronous(step)) {
    return scheduler_.post_task(
        [this, &step] {
          record("run", step["id"]);
          return run_asynchronous({&body_of(step), label_of(step), &step});
        },
        options);
  }
  if (returns_task(step)) {
    return scheduler_.post_task(
        [this, &step] {
          static_cast<void>(run_plain(step));
          return task(text_of(step["returns"], "task"));
        },
        options);
  }
  return scheduler_.post_task([this, &step] { return run_plain(step); }, options);
}

PostTaskOptions Interpreter::options_of(const Json& step) {
  PostTaskOptions options;
  if (step.contains("signal")) options.signal = signal_of(step).signal;
  if (step.contains("priority")) options.priority = priority_of(step);
  if (step.contains("delay")) options.delay = time_of(step, "delay");
  return options;
}

const Promise<Json>& Interpreter::task(const std::string& id) {
  const auto found = tasks_.find(id);
  if (found != tasks_.end()) return found->second;
  broken_ = id + " is not posted yet";
  throw BrokenScenario(broken_);
}

void Interpreter::then(const Json& step) {
  const auto react = [this, &step](const char* how, const Json& value) {
    record("then", step["label"], how, value);
    run_body(body_of(step), label_of(step));
  };
  attach(
      task(text_of(step, "id")), [react](const Json& value) { react("resolved", value); },
      [react](const Reason& reason) { react("rejected", shown(reason)); });
}

/// On a foreign thread, reactions are attached with the loop's scheduler.
template <class OnFulfilled, class OnRejected>
void Interpreter::attach(const Promise<Json>& promise, OnFulfilled on_fulfilled,
                         OnRejected on_rejected) {
  if (std::this_thread::get_id() != foreign_main_) {
    static_cast<void>(promise.then(std::move(on_fulfilled), std::move(on_rejected)));
  } else {
    static_cast<void>(promise.then(scheduler_, std::move(on_fulfilled), std::move(on_rejected)));
  }
}

}  // namespace heist::test
