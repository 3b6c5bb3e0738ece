// SEC-1 and LIF-5: ceilings of schedulers, and the places of bounded ones.
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <utility>

#include "../support.hpp"
#include "task/scheduler_core.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

/// Two threads ask for a ceiling: they get the same scheduler, whole.
HEIST_MODEL_PROGRAM(two_ask_for_a_ceiling, 3) {
  EventLoop loop(on_virtual_clock());
  std::array<SchedulerCore*, 2> got{};
  for (auto& mine : got) {
    spawn([&] {
      mine = Access::core(loop.scheduler().with_ceiling(TaskPriority::background));
      check(mine->ceiling == TaskPriority::background, "it has the ceiling");
    });
  }
  if (join_all()) check(got[0] == got[1], "it is one");
}

/// Who takes a place finds everything over that was done with it.
HEIST_MODEL_PROGRAM(a_place_is_taken_when_it_was_left, 3) {
  const auto bound = make_post_bound(1);
  int users = 0;
  Room first = try_take_room(bound);
  spawn([&] {
    ++users;
    first.leave();
  });
  spawn([&] {
    const Room second = try_take_room(bound);
    if (second) check(++users == 2, "one after the other");
  });
  join_all();
}

/// Two want the only place: one gets it.
HEIST_MODEL_PROGRAM(one_place_goes_to_one, 3) {
  const auto bound = make_post_bound(1);
  std::array<Room, 2> rooms;
  for (auto& room : rooms) {
    spawn([&] { room = try_take_room(bound); });
  }
  if (join_all()) check(static_cast<bool>(rooms[0]) != static_cast<bool>(rooms[1]), "one has it");
}

/// The same, by the line.
HEIST_MODEL_PROGRAM(a_place_is_given_when_it_was_left, 3) {
  const auto bound = make_post_bound(1);
  int users = 0;
  Room first = try_take_room(bound);
  std::optional<Promise<Room>> second;
  spawn([&] {
    ++users;
    first.leave();
  });
  spawn([&] {
    second = wait_for_room(bound);
    if (second->status() == PromiseStatus::fulfilled) check(++users == 2, "one after the other");
  });
  if (join_all()) check(second->status() == PromiseStatus::fulfilled, "nobody waits for nothing");
}

/// The place that one counts is given to another one who waits, by a third.
HEIST_MODEL_PROGRAM(a_place_is_given_by_others, 3) {
  const auto bound = make_post_bound(1);
  int users = 0;
  Room first = try_take_room(bound);
  std::optional<Promise<Room>> second = wait_for_room(bound);
  const auto use = [&users](const Promise<Room>& place) {
    if (place.status() == PromiseStatus::fulfilled) ++users;
  };
  spawn([&] { first.leave(); });
  spawn([&] { use(wait_for_room(bound)); });
  spawn([&] {
    use(*second);
    second.reset();
    static_cast<void>(wait_for_room(bound));
  });
  join_all();
}

/// Two leave, two wait: nobody is forgotten, whoever serves.
HEIST_MODEL_PROGRAM(two_places_go_to_two_who_wait, 2) {
  const auto bound = make_post_bound(2);
  std::array<Room, 2> taken{try_take_room(bound), try_take_room(bound)};
  std::array<std::optional<Promise<Room>>, 2> waiting;
  for (auto& room : taken) {
    spawn([&room] { room.leave(); });
  }
  for (auto& promise : waiting) {
    spawn([&promise, &bound] { promise = wait_for_room(bound); });
  }
  if (!join_all()) return;
  for (const auto& promise : waiting) {
    check(promise->status() == PromiseStatus::fulfilled, "nobody waits for nothing");
  }
  check(!try_take_room(bound), "there were two places");
}

/// Nobody wants what is given: it goes to the next, and in the end it is free.
HEIST_MODEL_PROGRAM(a_place_that_nobody_wants_goes_on, 2) {
  const auto bound = make_post_bound(1);
  std::optional<Promise<Room>> wanted;
  spawn([&] { static_cast<void>(wait_for_room(bound)); });
  spawn([&] { wanted = wait_for_room(bound); });
  if (!join_all()) return;
  check(wanted->status() == PromiseStatus::fulfilled, "nobody waits for nothing");
  wanted.reset();
  check(static_cast<bool>(try_take_room(bound)), "it is free");
}

/// Each of them, frozen at any step, keeps nobody from coming to an end.
HEIST_MODEL_PROGRAM(progress_of_limits, 2) {
  EventLoop loop(on_virtual_clock());
  const BoundedScheduler bounded(loop.scheduler(), 1);
  spawn([&] {
    const Operation operation("bounded post");
    static_cast<void>(bounded.post([] {}));
  });
  spawn([&] {
    const Operation operation("wait for room");
    static_cast<void>(bounded.room());
  });
  spawn([&] {
    const Operation operation("with_ceiling");
    static_cast<void>(loop.scheduler().with_ceiling(TaskPriority::background));
  });
  static_cast<void>(loop.scheduler().with_ceiling(TaskPriority::background));
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(bounded.post([] {}) == PostResult::posted, "the place is free");
  loop.run_until_idle();
}
