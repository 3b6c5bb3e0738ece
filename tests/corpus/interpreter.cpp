#include "corpus/interpreter.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <heist/heist.hpp>
#include <list>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "corpus/scenario_format.hpp"
#include "corpus/scenario_values.hpp"
#include "heist/loop/loop_core.hpp"

namespace heist::test {

namespace {

using std::chrono::milliseconds;

/// A controller of the scenario, with its signal.
struct Signal {
  std::optional<AbortController> abort;
  std::optional<TaskController> task;

  AbortController& controller() { return task ? *task : *abort; }
  [[nodiscard]] AbortSignal signal() const { return task ? task->signal() : abort->signal(); }
};

std::string text_of(const Json& step, const char* member) {
  return step.at(member).get<std::string>();
}
TaskPriority priority_of(const Json& step) {
  return parse_task_priority(text_of(step, "priority")).value();
}
milliseconds time_of(const Json& step, const char* member) {
  return milliseconds(step.at(member).get<std::int64_t>());
}

/// An asynchronous body. A post's result follows from its step; of others, errors are recorded.
struct Body {
  const Json* steps;
  std::string label;
  const Json* post = nullptr;
  bool is_awaited = false;
};

/// How a promise that a body waited for has settled.
struct Outcome {
  Json value;
  Reason reason;
};

class Interpreter {
 public:
  Json run(const Json& scenario) {
    scheduler_.post([&] {
      for (const Json& signal : scenario.at("signals")) create(signal);
      run_body(scenario.at("main"), "main");
    });
    loop_.advance(std::chrono::hours(1));
    if (loop_.pending() != 0) throw std::runtime_error("tasks are left");
    return std::move(trace_);
  }

 private:
  template <class... Parts>
  void record(Parts&&... parts) {
    trace_.push_back(Json::array({Json(std::forward<Parts>(parts))...}));
  }
  void record_failure(const std::string& label) {
    record("failed", label, shown(Reason::of_current_exception()));
  }

  // Bodies (FORMAT.md 5).

  /// The body of anything but a post and a call.
  void run_body(const Json& steps, const std::string& label) {
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
  void run_steps(const Json& steps) {
    for (const Json& step : steps) run_step(step);
  }
  /// Its promise is the body promise, but for errors that nobody waits for.
  Promise<Json> run_asynchronous(Body body) {
    try {
      for (const Json& step : *body.steps) {
        if (!waits(step)) {
          run_step(step);
          continue;
        }
        const Promise<Json> promise = start_waiting(step);
        Outcome outcome;
        try {
          outcome.value = co_await promise;
        } catch (...) {
          outcome.reason = Reason::of_current_exception();
        }
        end_waiting(step, body.label, outcome);
      }
      if (body.post != nullptr) co_return result_of(*body.post);
    } catch (...) {
      if (body.post == nullptr) record_failure(body.label);
      if (body.post != nullptr || body.is_awaited) throw;
    }
    co_return Json("undefined");
  }
  Promise<Json> start_waiting(const Json& step) {
    if (step["op"] == "await") return tasks_.at(text_of(step, "id"));
    return run_asynchronous({&body_of(step), text_of(step, "label"), nullptr, true});
  }
  void end_waiting(const Json& step, const std::string& label, const Outcome& outcome) {
    const bool rejected{outcome.reason};
    if (step["op"] == "await") {
      record("awaited", label, step["id"], rejected ? "rejected" : "resolved",
             rejected ? shown(outcome.reason) : outcome.value);
      if (rejected && step.value("rethrow", false)) outcome.reason.rethrow();
    } else if (rejected) {
      if (!step.value("catch", false)) outcome.reason.rethrow();
      record("caught", label, shown(outcome.reason));
    }
  }

  // Posts.

  static Json result_of(const Json& post) {
    if (post.contains("throws")) throw BodyError(text_of(post, "throws"));
    return post.value("returns", Json("undefined"));
  }
  PostTaskOptions options_of(const Json& post) {
    PostTaskOptions options;
    if (post.contains("signal")) options.signal = signal_of(post).signal();
    if (post.contains("priority")) options.priority = priority_of(post);
    if (post.contains("delay")) options.delay = time_of(post, "delay");
    return options;
  }
  Promise<Json> post_task(const Json& step) {
    const auto options = options_of(step);
    if (is_asynchronous(step)) {
      return scheduler_.post_task(
          [this, &step] {
            record("run", step["id"]);
            return run_asynchronous({&body_of(step), text_of(step, "id"), &step});
          },
          options);
    }
    if (step.contains("returns") && step["returns"].is_object()) {
      return scheduler_.post_task(
          [this, &step] {
            static_cast<void>(run_plain(step));
            return tasks_.at(text_of(step["returns"], "task"));
          },
          options);
    }
    return scheduler_.post_task([this, &step] { return run_plain(step); }, options);
  }
  Json run_plain(const Json& step) {
    record("run", step["id"]);
    run_steps(body_of(step));
    return result_of(step);
  }
  void post(const Json& step) {
    const auto id = text_of(step, "id");
    const auto promise = post_task(step);
    static_cast<void>(
        promise.then([this, id](const Json& value) { record("resolved", id, value); },
                     [this, id](const Reason& reason) { record("rejected", id, shown(reason)); }));
    if (!tasks_.emplace(id, promise).second) throw std::logic_error("posted twice");
  }

  // The other steps (FORMAT.md 6).

  void run_step(const Json& step) {
    using Run = void (Interpreter::*)(const Json&);
    static const std::map<std::string, Run> runs{{"post", &Interpreter::post},
                                                 {"abort", &Interpreter::abort},
                                                 {"setPriority", &Interpreter::set_priority},
                                                 {"then", &Interpreter::then},
                                                 {"call", &Interpreter::call},
                                                 {"microtask", &Interpreter::microtask},
                                                 {"timer", &Interpreter::timer},
                                                 {"listen", &Interpreter::listen},
                                                 {"create", &Interpreter::create},
                                                 {"read", &Interpreter::read},
                                                 {"throwIfAborted", &Interpreter::throw_if_aborted},
                                                 {"log", &Interpreter::log},
                                                 {"spin", &Interpreter::spin}};
    (this->*runs.at(text_of(step, "op")))(step);
  }

  Signal& signal_of(const Json& step) { return signals_.at(text_of(step, "signal")); }
  static void abort_with_reason_of(const Json& object, AbortController& controller) {
    if (!object.contains("reason")) return controller.abort();
    controller.abort(Reason(PlainReason{object["reason"]}));
  }
  void create(const Json& definition) {
    Signal& made = signals_[text_of(definition, "name")];
    if (definition["kind"] == "task") {
      made.task.emplace(definition.contains("priority") ? priority_of(definition)
                                                        : TaskPriority::user_visible);
      return;
    }
    made.abort.emplace();
    if (definition["kind"] == "aborted") abort_with_reason_of(definition, *made.abort);
  }
  void abort(const Json& step) { abort_with_reason_of(step, signal_of(step).controller()); }
  void set_priority(const Json& step) {
    try {
      signal_of(step).task.value().set_priority(priority_of(step));
    } catch (const NotAllowedError&) {
      record("threw", "setPriority", "NotAllowedError");
    }
  }
  void then(const Json& step) {
    const auto react = [this, &step](const char* how, const Json& value) {
      record("then", step["label"], how, value);
      run_body(body_of(step), text_of(step, "label"));
    };
    static_cast<void>(
        tasks_.at(text_of(step, "id"))
            .then([react](const Json& value) { react("resolved", value); },
                  [react](const Reason& reason) { react("rejected", shown(reason)); }));
  }
  void call(const Json& step) {
    static_cast<void>(run_asynchronous({&body_of(step), text_of(step, "label")}));
  }
  auto labelled(const char* event, const Json& step) {
    return [this, event, &step] {
      record(event, step["label"]);
      run_body(body_of(step), text_of(step, "label"));
    };
  }
  void microtask(const Json& step) { queue_microtask(labelled("microtask", step)); }
  void timer(const Json& step) {
    scheduler_.post(labelled("timer", step), {.delay = time_of(step, "ms")});
  }
  void listen(const Json& step) {
    Subscription& own = subscriptions_.emplace_back();
    Signal& target = signal_of(step);
    const auto heard = [this, &step, &own](Json event) {
      if (step.value("once", false)) own.reset();
      if (step.contains("label")) event.push_back(step["label"]);
      trace_.push_back(std::move(event));
      const auto name = text_of(step, "signal") + ":" + text_of(step, "event");
      run_body(body_of(step), step.value("label", name));
    };
    const auto name = text_of(step, "signal");
    if (step["event"] == "abort") {
      own = target.signal().on_abort([heard, name](const AbortSignal& signal) {
        heard(Json::array({"abort", name, shown(signal.reason())}));
      });
    } else {
      own = target.task.value().signal().on_priority_change(
          [heard, name](const PriorityChangeEvent& event) {
            heard(Json::array({"prioritychange", name, to_string(event.previous),
                               to_string(event.signal.priority())}));
          });
    }
  }
  void read(const Json& step) {
    const Signal& source = signal_of(step);
    const auto signal = source.signal();
    record("read", step["signal"],
           source.task ? Json(to_string(source.task->signal().priority())) : Json(),
           signal.aborted(), shown(signal.reason()));
  }
  void throw_if_aborted(const Json& step) {
    try {
      signal_of(step).signal().throw_if_aborted();
    } catch (...) {
      if (!step.value("catch", false)) throw;
      record("threw", "throwIfAborted", shown(Reason::of_current_exception()));
    }
  }
  void log(const Json& step) { record("log", step["text"]); }
  /// Time passes within a task; the virtual clock's public interface has no such thing.
  void spin(const Json& step) {
    loop_.core().time().set_virtual(loop_.now() + time_of(step, "ms"));
  }

  Json trace_ = Json::array();
  std::map<std::string, Signal> signals_;
  std::list<Subscription> subscriptions_;
  std::map<std::string, Promise<Json>> tasks_;
  EventLoop loop_{{.clock = LoopClock::virtual_time}};
  Scheduler scheduler_ = loop_.scheduler();
};

}  // namespace

Json replay(const Json& scenario) {
  check_format(scenario);
  return Interpreter().run(scenario);
}

}  // namespace heist::test
