// What is lent to who holds a lock (LentPriority), against whatever changes it at the same time.
#include "signal/lent_priority.hpp"

#include <heist/detail/lent_lock.hpp>
#include <heist/heist.hpp>
#include <utility>

#include "../support.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

constexpr auto background = TaskPriority::background;
constexpr auto user_visible = TaskPriority::user_visible;
constexpr auto user_blocking = TaskPriority::user_blocking;

/// The lent priorities of coroutines on a loop, which do nothing else here.
class Coroutines {
 public:
  [[nodiscard]] Ref<LentPriority> make(TaskPriority base, SignalCore* source = nullptr) const {
    return LentPriority::make(
        {.scheduler = Access::core(scheduler_), .priority = base, .priority_source = source});
  }

 private:
  EventLoop loop_{on_virtual_clock()};
  Scheduler scheduler_ = loop_.scheduler();
};

/// What picks use is what the coroutine's level is.
void check_level(LentPriority& lent, TaskPriority level) {
  check(lent.level() == level, "the level is the highest of what is lent");
  check(lent.own_scheduling_priority() == level, "picks use the level");
}

void lend_to(LentPriority& from, LentPriority& to) {
  check(from.try_link(to), "it lends to nobody else");
}

}  // namespace

/// Who waits while the lock is handed over lends to the new holder, and not to the old one.
HEIST_MODEL_PROGRAM(lend_against_hand_over, 2) {
  const Coroutines coroutines;
  const auto lock = LentPriority::make_for_lock();
  const auto first = coroutines.make(background);
  const auto second = coroutines.make(background);
  lend_to(*lock, *first);
  spawn([&] { lock->lend(background, user_blocking); });
  static_cast<void>(lock->unlink());
  lend_to(*lock, *second);
  if (!join_all()) return;
  check_level(*first, background);
  check_level(*second, user_blocking);
  static_cast<void>(lock->unlink());
}

/// One waits while another one gives up.
HEIST_MODEL_PROGRAM(lend_against_giving_up, 2) {
  const Coroutines coroutines;
  const auto lock = LentPriority::make_for_lock();
  const auto holder = coroutines.make(background);
  lend_to(*lock, *holder);
  lock->lend(background, user_blocking);
  spawn([&] { lock->lend(background, user_visible); });
  lock->lend(user_blocking, background);
  if (!join_all()) return;
  check_level(*holder, user_visible);
  static_cast<void>(lock->unlink());
}

/// A holder begins to wait for another lock while somebody begins to wait for its own.
HEIST_MODEL_PROGRAM(lend_against_the_next_link, 2) {
  const Coroutines coroutines;
  const auto lock = LentPriority::make_for_lock();
  const auto other = LentPriority::make_for_lock();
  const auto holder = coroutines.make(background);
  const auto last = coroutines.make(background);
  lend_to(*lock, *holder);
  lend_to(*other, *last);
  spawn([&] { lock->lend(background, user_blocking); });
  lend_to(*holder, *other);
  if (!join_all()) return;
  check_level(*last, user_blocking);
  static_cast<void>(holder->unlink());
  check_level(*last, background);
  static_cast<void>(lock->unlink());
  static_cast<void>(other->unlink());
}

/// A holder gives up its own wait, and ends, while somebody lends to it. What it would have passed
/// on is gone, and nobody touches what has ended.
HEIST_MODEL_PROGRAM(lend_against_the_end_of_a_chain, 2) {
  const Coroutines coroutines;
  const auto lock = LentPriority::make_for_lock();
  auto other = LentPriority::make_for_lock();
  auto holder = coroutines.make(background);
  const auto last = coroutines.make(background);
  lend_to(*lock, *holder);
  lend_to(*other, *last);
  lend_to(*holder, *other);
  spawn([&] { lock->lend(background, user_blocking); });
  static_cast<void>(holder->unlink());
  static_cast<void>(other->unlink());
  other.reset();
  static_cast<void>(lock->unlink());
  holder.reset();
  if (!join_all()) return;
  check_level(*last, background);
}

/// The priority of the holder's own signal changes while somebody begins to wait, and the holder
/// ends while that change may still be delivered.
HEIST_MODEL_PROGRAM(lend_against_a_change_of_the_base, 1) {
  const Coroutines coroutines;
  TaskController controller(background);
  const auto lock = LentPriority::make_for_lock();
  auto holder = coroutines.make(background, &Access::core(controller.signal()));
  lend_to(*lock, *holder);
  spawn([&] { controller.set_priority(user_visible); });
  lock->lend(background, user_blocking);
  lock->lend(user_blocking, background);
  const bool is_joined = join_all();
  if (is_joined) check_level(*holder, user_visible);
  static_cast<void>(lock->unlink());
}
HEIST_MODEL_PROGRAM(change_of_the_base_against_the_end, 2) {
  const Coroutines coroutines;
  TaskController controller(background);
  auto holder = coroutines.make(background, &Access::core(controller.signal()));
  spawn([&] { controller.set_priority(user_visible); });
  holder.reset();
  static_cast<void>(join_all());
}

namespace {

/// `co_await` of it takes a lock that is free.
class Takes {
 public:
  explicit Takes(LentLock& lock) noexcept : lock_(lock) {}
  class Awaiter {
   public:
    explicit Awaiter(LentLock& lock) noexcept : lock_(lock) {}
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <class Awaiting>
    bool await_suspend(std::coroutine_handle<Awaiting> coroutine) const {
      Lender lender;
      lender.enter(kept_state_of(coroutine));
      lock_.hold(lender);
      return false;
    }
    void await_resume() const noexcept {}

   private:
    LentLock& lock_;
  };
  Awaiter operator co_await() && noexcept { return Awaiter(lock_); }

 private:
  LentLock& lock_;
};

}  // namespace

template <>
inline constexpr bool heist::detail::restores_state<Takes> = true;

namespace {

Promise<void> hold_for_a_turn(LentLock& lock, int& went_on) {
  co_await Takes(lock);
  co_await yield();
  ++went_on;
  lock.let_go();
}

}  // namespace

/// A pick that begins after the wait for the lock has begun goes by what is lent.
HEIST_MODEL_PROGRAM(lend_against_pick, 2) {
  EventLoop loop(on_virtual_clock());
  const Scheduler scheduler = loop.scheduler();
  LentLock lock;
  Lender waiter;
  sync::atomic<int> waits{0};
  bool waited_before_pick = false;
  int went_on = 0;
  scheduler.post([&] { static_cast<void>(hold_for_a_turn(lock, went_on)); },
                 {.priority = background});
  loop.run_one();
  scheduler.post([&] { waited_before_pick = waits.load(sync::acquire) == 1; },
                 {.priority = user_blocking});
  scheduler.post([&] {
    if (waited_before_pick) check(went_on == 1, "the holder was raised before this pick");
  });
  spawn([&] {
    waiter.enter(nullptr);
    lock.wait(waiter);
    waits.store(1, sync::release);
  });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  lock.stop_waiting(waiter);
  check(went_on == 1, "it ran once");
}

/// What is lent in a circle of locks, a deadlock, is not taken back.
HEIST_MODEL_PROGRAM(broken_lent_level_in_a_circle, 0) {
  const Coroutines coroutines;
  const auto lock = LentPriority::make_for_lock();
  const auto other = LentPriority::make_for_lock();
  const auto holder = coroutines.make(background);
  const auto next = coroutines.make(background);
  lend_to(*lock, *holder);
  lend_to(*holder, *other);
  lend_to(*other, *next);
  lend_to(*next, *lock);
  lock->lend(background, user_blocking);
  lock->lend(user_blocking, background);
  check_level(*holder, background);
  static_cast<void>(next->unlink());
  static_cast<void>(other->unlink());
  static_cast<void>(holder->unlink());
  static_cast<void>(lock->unlink());
}
