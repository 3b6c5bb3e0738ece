#include "engine.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "crash.hpp"
#include "describe.hpp"

namespace heist::model {

using namespace detail;

Engine& Engine::instance() {
  static Engine engine;
  return engine;
}

Engine::Engine() {
  made_ = this;
  report_crashes();
}

Outcome Engine::explore(void (*program)(), const Plan& plan) {
  outcome_ = {};
  program_ = program;
  plan_ = &plan;
  path_ = std::make_unique<Path>(plan.search);
  if (outside_ == nullptr) outside_ = std::make_unique<Fiber>();
  const auto start = std::chrono::steady_clock::now();
  const auto limit = std::chrono::duration<double>(plan.seconds);
  do {
    run_once();
    ++outcome_.executions;
    if (outcome_.failure) return outcome_;
    if (!path_->next()) {
      outcome_.complete = true;
      return outcome_;
    }
  } while (outcome_.executions < plan.executions &&
           std::chrono::steady_clock::now() - start < limit);
  return outcome_;
}

void Engine::run_once() {
  begin_execution();
  running_ = true;
  threads_[0].fiber->resume(*outside_);
  running_ = false;
  if (!outcome_.failure) leak_check();
  note_progress();
  inside_ = false;
  outcome_.longest = std::max(outcome_.longest, steps_);
}

void Engine::begin_execution() {
  path_->begin();
  memory_.forget_all();
  shadow_.forget_all();
  heap_.forget_all();
  dependencies_.forget_all();
  steps_ = 0;
  current_ = 0;
  for (Thread& thread : threads_) {
    // Left amid its body, or amid the end of a failed execution.
    const bool was_left = failed_ || thread.state != State::done;
    if (thread.state != State::unused && was_left) thread.fiber->restart();
    thread.state = State::unused;
    thread.body = nullptr;
  }
  failed_ = false;
  inside_ = true;
  spawn(program_);
}

ThreadId Engine::spawn(std::function<void()> body) {
  const Inside inside(*this);
  ThreadId id = 0;
  while (id < max_threads && threads_[static_cast<std::size_t>(id)].state != State::unused) ++id;
  if (id == max_threads) fail("a model may have 8 threads");
  Thread& child = threads_[static_cast<std::size_t>(id)];
  if (child.fiber == nullptr) child.fiber = std::make_unique<Fiber>(&Engine::thread_main);
  child.fiber->forget_thread_locals();
  child.body = std::move(body);
  child.state = State::ready;
  child.spawned = 0;
  child.steps = 0;
  child.operation = nullptr;
  child.clock = id == 0 ? VectorClock() : me().clock;
  child.clock[id] = 1;
  alone_ = id == 0;
  if (id != 0) {
    me().spawned |= only(id);
    ++me().clock[current_];
    dependencies_.spawned(current_, id);
  }
  return id;
}

void Engine::thread_main() { instance().run_body(); }

void Engine::run_body() {
  inside_ = false;
  {
    const auto body = std::move(me().body);
    body();
  }
  inside_ = true;
  finish();
}

void Engine::finish() {
  me().state = State::done;
  for (Thread& thread : threads_) {
    if (thread.state == State::joining && all_done(thread.spawned)) thread.state = State::ready;
  }
  reschedule();
}

bool Engine::all_done(ThreadSet threads) const noexcept {
  for (; threads != 0; threads &= threads - 1) {
    const State state = threads_[static_cast<std::size_t>(std::countr_zero(threads))].state;
    if (state != State::done && state != State::frozen) return false;
  }
  return true;
}

bool Engine::join_all() {
  const Inside inside(*this);
  if (!all_done(me().spawned)) {
    me().state = State::joining;
    reschedule();
  }
  for (ThreadSet left = me().spawned; left != 0; left &= left - 1) {
    const ThreadId finished = std::countr_zero(left);
    me().clock.join(threads_[static_cast<std::size_t>(finished)].clock);
    dependencies_.joined(current_, finished);
  }
  return std::ranges::none_of(threads_,
                              [](const Thread& thread) { return thread.state == State::frozen; });
}

ThreadSet Engine::enabled() const noexcept {
  ThreadSet result = 0;
  for (ThreadId id = 0; id < max_threads; ++id) {
    const State state = threads_[static_cast<std::size_t>(id)].state;
    if (state == State::ready || state == State::dozing) result |= only(id);
  }
  return result;
}

void Engine::reschedule() {
  const ThreadSet candidates = enabled();
  if (candidates == 0) return nobody_can_go_on();
  const ThreadId next = path_->choose_thread(candidates, current_);
  if (path_->derailed()) fail("the trace does not fit this program");
  if (next != current_) {
    dependencies_.switched(path_->last_switch());
    switch_to(next);
  }
  me().state = State::ready;
}

void Engine::switch_to(ThreadId thread) {
  Fiber& from = *me().fiber;
  current_ = thread;
  me().fiber->resume(from);
}

/// All done, or what is left waits for ever.
void Engine::nobody_can_go_on() {
  for (ThreadId id = 0; id < max_threads; ++id) {
    const Thread& thread = threads_[static_cast<std::size_t>(id)];
    if (thread.state == State::asleep || thread.state == State::joining) {
      fail("deadlock: thread " + std::to_string(id) + " waits for ever");
    }
  }
  outside_->resume(*me().fiber);
}

void Engine::record_failure(const std::string& what) {
  outcome_.failure = what;
  outcome_.trace = path_->trace();
}

void Engine::fail(const std::string& what) {
  inside_ = failed_ = true;
  record_failure(what);
  outside_->resume(*me().fiber);
  std::abort();  // nobody resumes a failed execution
}

void Engine::freeze_if_due() {
  const auto& freeze = plan_->freeze;
  if (!freeze || freeze->thread != current_ || freeze->step != me().steps) return;
  outcome_.froze = true;
  me().state = State::frozen;
  for (Thread& thread : threads_) {
    if (thread.state == State::joining && all_done(thread.spawned)) thread.state = State::ready;
  }
}

void Engine::step(Cell cell, bool writes) {
  ++me().steps;
  freeze_if_due();
  reschedule();
  if (++steps_ > step_limit) fail("no end: more than " + std::to_string(step_limit) + " steps");
  depend(cell, writes);
}

void Engine::depend(Cell cell, bool writes) {
  if (plan_->search.kind != Search::Kind::exhaustive) return;
  dependencies_.step(current_, cell.address, writes, path_->last_switch(), *path_);
}

/// What the thread does from here on does not happen before an acquiring read of what it has just
/// stored.
void Engine::stored() { ++me().clock[current_]; }

void Engine::created(Cell cell, Word value) {
  const Inside inside(*this);
  touch(cell.address, cell.bytes, AccessKind::write);
  memory_.created(viewer(), cell, value);
}

Word Engine::load(Cell cell, std::memory_order order, Where where) {
  const Inside inside(*this);
  // A seq_cst load bounds what later ones read: their order matters.
  step(cell, sync::unmarked(order) == std::memory_order_seq_cst);
  touch(cell.address, cell.bytes, AccessKind::read);
  const Word value = sync::has_mark(order, sync::mute_mark)
                         ? memory_.oldest(cell)
                         : memory_.load(viewer(), cell, sync::unmarked(order), *path_);
  trace("load", cell, value, order, where);
  return value;
}

void Engine::store(Cell cell, Word value, std::memory_order order, Where where) {
  const Inside inside(*this);
  step(cell, true);
  touch(cell.address, cell.bytes, AccessKind::read);
  if (sync::has_mark(order, sync::mute_mark)) return;
  memory_.store(viewer(), cell, value, sync::unmarked(order), *path_);
  stored();
  trace("store", cell, value, order, where);
}

Word Engine::update(Cell cell, Update what, Word operand, std::memory_order order, Where where) {
  const Inside inside(*this);
  if (sync::has_mark(order, sync::torn_mark)) {
    const Word read = load(cell, order, where);
    store(cell, applied(what, read, operand, cell.bytes), order, where);
    return read;
  }
  step(cell, true);
  touch(cell.address, cell.bytes, AccessKind::read);
  const Word before = memory_.newest(cell);
  const Word after = applied(what, before, operand, cell.bytes);
  memory_.replace(viewer(), cell, after, sync::unmarked(order));
  stored();
  trace("update", cell, after, order, where);
  return before;
}

bool Engine::compare_exchange(Cell cell, Word& expected, Word desired, std::memory_order success,
                              std::memory_order failure, Where where) {
  const Inside inside(*this);
  if (sync::has_mark(success, sync::torn_mark)) {
    const Word read = load(cell, success, where);
    const bool equal = read == std::exchange(expected, read);
    if (equal) store(cell, desired, success, where);
    return equal;
  }
  step(cell, true);
  touch(cell.address, cell.bytes, AccessKind::read);
  const auto found = memory_.compare(viewer(), cell, expected, sync::unmarked(failure), *path_);
  if (!found.may_succeed) {
    expected = found.value;
    trace("compare fails", cell, found.value, failure, where);
    return false;
  }
  memory_.replace(viewer(), cell, desired, sync::unmarked(success));
  stored();
  trace("compare succeeds", cell, desired, success, where);
  return true;
}

void Engine::sleep_on(Cell cell, Word expected, bool timed, Where where) {
  const Inside inside(*this);
  step(cell, true);
  touch(cell.address, cell.bytes, AccessKind::read);
  const Word value = memory_.newest(cell);
  trace(value == expected ? "sleep" : "no sleep", cell, value, std::memory_order_relaxed, where);
  if (value != expected) return;
  me().state = timed ? State::dozing : State::asleep;
  me().asleep_on = cell.address;
  reschedule();
  if (timed) depend(cell, true);  // its end and a wake-up: which is first
}

void Engine::wake(Cell cell, int how_many, Where where) {
  const Inside inside(*this);
  step(cell, true);
  trace("wake", cell, 0, std::memory_order_relaxed, where);
  ThreadSet sleepers = sleeping_on(cell);
  for (; how_many > 0 && sleepers != 0; --how_many) {
    const int count = std::popcount(sleepers);
    ThreadSet rest = sleepers;
    // Whom, if not all.
    for (int skip = how_many < count ? path_->choose(count) : 0; skip > 0; --skip) rest &= rest - 1;
    const ThreadId woken = std::countr_zero(rest);
    threads_[static_cast<std::size_t>(woken)].state = State::ready;
    sleepers &= ~only(woken);
  }
}

ThreadSet Engine::sleeping_on(Cell cell) const noexcept {
  ThreadSet result = 0;
  for (ThreadId id = 0; id < max_threads; ++id) {
    const Thread& thread = threads_[static_cast<std::size_t>(id)];
    const bool sleeps = thread.state == State::asleep || thread.state == State::dozing;
    if (sleeps && thread.asleep_on == cell.address) result |= only(id);
  }
  return result;
}

/// How far the others came while a thread was frozen in an operation.
void Engine::note_progress() {
  const auto frozen = std::ranges::find(threads_, State::frozen, &Thread::state);
  if (frozen == threads_.end() || frozen->operation == nullptr) return;
  auto& most = outcome_.frozen_in[frozen->operation];
  most = std::max(most, steps_ - (frozen->steps - 1));  // it has not taken its last
}

void Engine::touch(const void* begin, std::size_t bytes, AccessKind kind) {
  const Inside inside(*this);
  // Before a second thread is there, nothing can race; what it does happens before all of that one.
  if (alone_ && kind != AccessKind::release) return;
  if (Fiber::is_thread_local(begin)) return;
  const auto conflict = shadow_.touch(current_, me().clock, begin, bytes, kind, code_);
  if (conflict) report(*conflict, begin, bytes);
}

void* Engine::allocate(std::size_t bytes, std::size_t alignment) {
  const Inside inside(*this);
  return heap_.allocate(bytes, alignment, code_);
}

bool Engine::release(void* begin) {
  if (!heap_.owns(begin)) return false;
  if (!running_) return true;  // an object that outlived its execution
  const Inside inside(*this);
  Heap::Block* block = heap_.block_at(begin);
  if (block == nullptr) fail("freed what was never allocated, by " + describe(code_));
  if (block->freed) fail("freed twice, now by " + describe(code_));
  block->freed = true;
  touch(begin, block->bytes, AccessKind::release);
  return true;
}

void Engine::report(const Conflict& conflict, const void* address, std::size_t bytes) {
  const auto say = [](const Access& access) {
    static constexpr const char* verbs[] = {"reads", "writes", "frees"};
    return "  thread " + std::to_string(access.thread) + " " +
           verbs[static_cast<std::size_t>(access.kind)] + " at " + describe(access.code) + "\n";
  };
  const bool freed = conflict.earlier.kind == AccessKind::release;
  char place[64];
  std::snprintf(place, sizeof place, " (%zu bytes at %p):\n", bytes, address);
  fail(std::string(freed ? "use after free" : "data race") + place + say(conflict.earlier) +
       say(conflict.later));
}

void Engine::leak_check() {
  if (plan_->freeze && outcome_.froze) return;  // a frozen thread holds what it holds
  for (const Heap::Block& block : heap_.blocks()) {
    if (block.freed) continue;
    return record_failure("leak of " + std::to_string(block.bytes) + " bytes, allocated by " +
                          describe(block.code));
  }
}

void Engine::trace(const char* what, Cell cell, Word value, std::memory_order order, Where where) {
  if (!plan_->prints_steps) return;
  std::printf("  thread %d  %-16s %p = %#llx  %s  %s\n", current_, what, cell.address,
              static_cast<unsigned long long>(value), name_of(order), place_of(where).c_str());
}

}  // namespace heist::model
