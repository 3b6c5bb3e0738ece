// Tasks and their continuations (FORMAT.md 4).
#include "scenarios/cooperative/interpreter.hpp"
#include "scenarios/cooperative/priority_number.hpp"

namespace heist::test {

/// An exception that leaves it is the task's.
template <class Run>
CooperativeInterpreter::Value CooperativeInterpreter::run_in_task(const Task& task, Run run) {
  try {
    return run();
  } catch (Thrown& thrown) {
    thrown.task = task.id;
    throw;
  }
}

void CooperativeInterpreter::schedule(const Json& step) {
  auto task = std::make_shared<Task>(Task{.id = step["id"]});
  auto callback = [this, &step, task](const Slice& slice) -> Value {
    record("run", task->id, slice.did_timeout, now());
    return run_in_task(*task, [&] { return run_body(step["body"], {task, slice.did_timeout}); });
  };
  const Milliseconds delay(step.value("delay", 0.0));
  tasks_[step["id"]] = scheduler_.schedule_callback(priority_of_number(step["priority"]).value(),
                                                    std::move(callback), {.delay = delay});
}

void CooperativeInterpreter::cancel(const Json& step) {
  const auto found = tasks_.find(step["id"]);
  if (found != tasks_.end()) scheduler_.cancel_callback(found->second);
}

/// The task goes on: what its body knows now.
CooperativeInterpreter::Context CooperativeInterpreter::continued(const Context& context,
                                                                  const Slice& slice) {
  record("continue", context.task->id, ++context.task->continuations, slice.did_timeout, now());
  return {context.task, slice.did_timeout};
}

CooperativeInterpreter::Value CooperativeInterpreter::continuation(const Json& step,
                                                                   const Context& context) {
  return [this, &step, context](const Slice& slice) -> Value {
    const Context here = continued(context, slice);
    return run_in_task(*here.task, [&] { return run_body(step["body"], here); });
  };
}

CooperativeInterpreter::Value CooperativeInterpreter::work(std::int64_t units, double duration,
                                                           const Context& context) {
  std::int64_t done = 0;
  for (; units > 0 && (context.late || !scheduler_.should_yield()); --units, ++done) {
    be_busy_(duration);
  }
  record("work", context.task->id, done, units, now());
  if (units == 0) return {};
  return [this, units, duration, context](const Slice& slice) -> Value {
    return work(units, duration, continued(context, slice));
  };
}

}  // namespace heist::test
