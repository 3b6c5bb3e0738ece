// CHN-1 to CHN-6: values that are sent and received, waits that are aborted, loops and channels
// that close and owners that go, all at once.
#include <array>
#include <heist/heist.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include "../support.hpp"

using namespace heist;
using namespace heist::detail;
using namespace heist::model;

namespace {

/// What became of a coroutine's wait for a value.
struct Received {
  int value = 0;
  bool has_ended = false;
  bool has_thrown = false;

  [[nodiscard]] int outcomes() const {
    return (value != 0 ? 1 : 0) + (has_ended ? 1 : 0) + (has_thrown ? 1 : 0);
  }
};

Promise<void> receive(const Channel<int>& channel, Received& received,
                      std::optional<AbortSignal> signal = {}) {
  try {
    const auto value = co_await channel.receive(signal);
    received.value = value.value_or(0);
    received.has_ended = !value;
  } catch (const std::exception&) {
    received.has_thrown = true;
  }
}

void post_receive(EventLoop& loop, const Channel<int>& channel, Received& received,
                  std::optional<AbortSignal> signal = {}) {
  loop.scheduler().post(
      [&channel, &received, signal] { static_cast<void>(receive(channel, received, signal)); });
}

/// What became of a coroutine's wait for room.
struct Sent {
  bool is_sent = false;
  bool is_refused = false;
};

Promise<void> send(const Channel<int>& channel, int value, Sent& sent) {
  sent.is_sent = co_await channel.send(std::move(value));
  sent.is_refused = !sent.is_sent;
}

void post_send(EventLoop& loop, const Channel<int>& channel, int value, Sent& sent) {
  loop.scheduler().post(
      [&channel, value, &sent] { static_cast<void>(send(channel, value, sent)); });
}

void spawn_send(const Channel<int>& channel, int value) {
  spawn([&channel, value] { check(channel.try_send(value), "there is room"); });
}

}  // namespace

/// A coroutine comes while a value is sent: it gets it.
HEIST_MODEL_PROGRAM(value_sent_against_a_wait, 2) {
  const Channel<int> channel(1);
  EventLoop loop(on_virtual_clock());
  Received received;
  post_receive(loop, channel, received);
  spawn_send(channel, 1);
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(received.value == 1, "nobody waits for nothing");
}

/// Two send while a third thread receives: values are complete, and there are two.
HEIST_MODEL_PROGRAM(two_send_against_a_receiver, 3) {
  const Channel<int> channel(2);
  spawn_send(channel, 1);
  spawn_send(channel, 2);
  int sum = channel.try_receive().value_or(0);
  if (!join_all()) return;
  while (const auto value = channel.try_receive()) sum += *value;
  check(sum == 3, "each value once");
}

/// Two receive while a third thread sends: cells are empty before they are filled again.
HEIST_MODEL_PROGRAM(two_receive_against_a_sender, 3) {
  const Channel<int> channel(2);
  check(channel.try_send(1) && channel.try_send(2), "there is room");
  std::array<int, 2> received{};
  for (int& value : received) spawn([&] { value = channel.try_receive().value_or(0); });
  const bool is_sent = channel.try_send(4);
  if (!join_all()) return;
  int sum = received[0] + received[1];
  while (const auto value = channel.try_receive()) sum += *value;
  check(sum == (is_sent ? 7 : 3), "each value once");
  for (int i = 0; i < 2; ++i) check(channel.try_send(i), "all cells are free in the end");
  check(!channel.try_send(2), "there are two cells");
}

/// Two send to two who wait.
HEIST_MODEL_PROGRAM(two_send_to_two_who_wait, 2) {
  const Channel<int> channel(2);
  EventLoop loop(on_virtual_clock());
  std::array<Received, 2> received;
  for (Received& one : received) post_receive(loop, channel, one);
  loop.run_until_idle();
  spawn_send(channel, 1);
  spawn_send(channel, 2);
  if (!join_all()) return;
  loop.run_until_idle();
  check(received[0].value + received[1].value == 3, "each value once");
}

/// A wait is aborted while a value is sent: one of the two has it.
HEIST_MODEL_PROGRAM(value_sent_against_an_abort, 2) {
  const Channel<int> channel(1);
  EventLoop loop(on_virtual_clock());
  Received aborted;
  Received next;
  AbortController controller;
  post_receive(loop, channel, aborted, controller.signal());
  post_receive(loop, channel, next);
  loop.run_until_idle();
  spawn_send(channel, 1);
  spawn([&] { controller.abort(); });
  if (!join_all()) return;
  loop.run_until_idle();
  check(aborted.outcomes() == 1, "it has ended, in one way");
  check(aborted.value + next.value == 1, "the value is received once");
}

/// The last wait is aborted while a value is sent, and a third thread tries.
HEIST_MODEL_PROGRAM(value_tried_against_an_abort, 2) {
  const Channel<int> channel(1);
  EventLoop loop(on_virtual_clock());
  Received aborted;
  AbortController controller;
  post_receive(loop, channel, aborted, controller.signal());
  loop.run_until_idle();
  spawn_send(channel, 1);
  spawn([&] { controller.abort(); });
  int tried = channel.try_receive().value_or(0);
  if (!join_all()) return;
  loop.run_until_idle();
  tried += channel.try_receive().value_or(0);
  check(tried + aborted.value == 1, "the value is received once");
}

/// A receiver's loop is closed while a value is sent: the next one has it.
HEIST_MODEL_PROGRAM(value_sent_against_the_close_of_a_loop, 2) {
  const Channel<int> channel(1);
  EventLoop closed(on_virtual_clock());
  EventLoop loop(on_virtual_clock());
  Received lost;
  Received next;
  post_receive(closed, channel, lost);
  closed.run_until_idle();
  post_receive(loop, channel, next);
  loop.run_until_idle();
  spawn_send(channel, 1);
  closed.close(CloseMode::abort());
  if (!join_all()) return;
  loop.run_until_idle();
  check(lost.value + next.value == 1, "the value is received once");
}

/// A wait is aborted and its loop ends while a value is sent: whoever takes the waiter out of the
/// line then asks that loop for nothing.
HEIST_MODEL_PROGRAM(value_sent_against_an_abort_and_the_end_of_a_loop, 2) {
  const Channel<int> channel(1);
  std::optional<EventLoop> loop(std::in_place, on_virtual_clock());
  Received received;
  AbortController controller;
  post_receive(*loop, channel, received, controller.signal());
  loop->run_until_idle();
  spawn_send(channel, 1);
  controller.abort();
  loop->run_until_idle();
  loop.reset();
  if (!join_all()) return;
  check(received.value + channel.try_receive().value_or(0) == 1, "the value is received once");
}

/// A coroutine comes for room while a value is received.
HEIST_MODEL_PROGRAM(room_made_against_a_wait, 2) {
  const Channel<int> channel(1);
  EventLoop loop(on_virtual_clock());
  Sent sent;
  check(channel.try_send(1), "there is room");
  post_send(loop, channel, 2, sent);
  spawn([&] { check(channel.try_receive() == 1, "values keep their order"); });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(sent.is_sent && channel.try_receive() == 2, "nobody waits for nothing");
}

/// A channel is closed while one sends and another waits: the value is received, or refused, and
/// then there is the end.
HEIST_MODEL_PROGRAM(channel_closed_against_a_sender, 3) {
  const Channel<int> channel(1);
  EventLoop loop(on_virtual_clock());
  std::array<Received, 2> received;
  for (Received& one : received) post_receive(loop, channel, one);
  loop.run_until_idle();
  bool is_sent = false;
  spawn([&] { is_sent = channel.try_send(1); });
  channel.close();
  if (!join_all()) return;
  loop.run_until_idle();
  check(received[0].value + received[1].value == (is_sent ? 1 : 0), "what was sent is received");
  check(received[0].outcomes() == 1 && received[1].outcomes() == 1, "both have ended");
  check(channel.is_ended(), "nothing is left");
}

/// Who sees the end sees what was done before the close, and the last value before it.
HEIST_MODEL_PROGRAM(channel_closed_against_a_receiver, 3) {
  const Channel<int> channel(1);
  int written = 0;
  spawn([&] {
    check(channel.try_send(1), "there is room");
    written = 1;
    channel.close();
  });
  const auto value = channel.try_receive();
  if (channel.is_ended()) check(written == 1 && value == 1, "the end is behind all else");
  if (!join_all()) return;
  check(value || channel.try_receive() == 1, "the value is received once");
  check(channel.is_ended(), "nothing is left");
}

/// It is closed while one receives the last value and another waits.
HEIST_MODEL_PROGRAM(channel_closed_against_the_last_receiver, 2) {
  const Channel<int> channel(1);
  EventLoop loop(on_virtual_clock());
  Received received;
  int tried = 0;
  check(channel.try_send(1), "there is room");
  post_receive(loop, channel, received);
  spawn([&] { tried = channel.try_receive().value_or(0); });
  spawn([&] { channel.close(); });
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(received.outcomes() == 1, "nobody waits for nothing");
  check(tried + received.value == 1, "the value is received once");
}

/// It is closed, twice, while one waits for room that is made.
HEIST_MODEL_PROGRAM(channel_closed_against_a_wait_for_room, 2) {
  const Channel<int> channel(1);
  EventLoop loop(on_virtual_clock());
  Sent sent;
  check(channel.try_send(1), "there is room");
  post_send(loop, channel, 2, sent);
  loop.run_until_idle();
  spawn([&] { check(channel.try_receive() == 1, "values keep their order"); });
  spawn([&] { channel.close(); });
  channel.close();
  loop.run_until_idle();
  if (!join_all()) return;
  loop.run_until_idle();
  check(sent.is_sent != sent.is_refused, "nobody waits for nothing");
  check(channel.try_receive().has_value() == sent.is_sent, "what was sent is there");
  check(channel.is_ended(), "nothing is left");
}

/// The owner goes while a wait is aborted: the later of the two frees the memory.
HEIST_MODEL_PROGRAM(channel_gone_against_an_abort, 2) {
  std::optional<Channel<int>> channel(std::in_place, 1U);
  EventLoop loop(on_virtual_clock());
  Received received;
  AbortController controller;
  post_receive(loop, *channel, received, controller.signal());
  loop.run_until_idle();
  spawn([&] { controller.abort(); });
  channel.reset();
  if (!join_all()) return;
  loop.run_until_idle();
  check(received.has_thrown, "the wait has ended");
}

/// A maker that looks before it tells may leave its turn to somebody who has gone.
HEIST_MODEL_PROGRAM(naive_maker_looks_before_it_tells, 2) {
  sync::atomic<int> next{0};
  std::array<sync::atomic<bool>, 2> told{};
  spawn([&] {
    if (next.load(sync::seq_cst) == 1) return next.store(2, sync::seq_cst);
    told[1].store(true, sync::seq_cst);
  });
  next.store(1, sync::seq_cst);
  if (told[1].load(sync::seq_cst)) next.store(2, sync::seq_cst);
  if (join_all()) check(next.load(sync::seq_cst) == 2, "both turns are ready");
}

/// A count of values that does not wait for their order gives a turn before it is written.
HEIST_MODEL_PROGRAM(naive_count_of_values_without_their_order, 2) {
  sync::atomic<int> taken{0};
  sync::atomic<int> written{0};
  std::array<sync::atomic<int>, 2> cells{};
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      const int cell = taken.fetch_add(1, sync::seq_cst);
      cells[static_cast<std::size_t>(cell)].store(1, sync::seq_cst);
      written.fetch_add(1, sync::seq_cst);
    });
  }
  if (written.load(sync::seq_cst) > 0) {
    check(cells[0].load(sync::seq_cst) == 1, "the first value is there");
  }
  join_all();
}

/// Each of them, frozen at any step, keeps nobody from coming to an end.
HEIST_MODEL_PROGRAM(progress_of_sending, 1) {
  const Channel<int> channel(2);
  EventLoop loop(on_virtual_clock());
  std::array<Received, 2> received;
  post_receive(loop, channel, received[0]);
  loop.run_until_idle();
  for (int i = 1; i < 3; ++i) {
    spawn([&channel, i] {
      const Operation operation("send a value");
      static_cast<void>(channel.try_send(i));
    });
  }
  post_receive(loop, channel, received[1]);
  {
    const Operation operation("wait for a value");
    loop.run_until_idle();
  }
  if (!join_all()) return;
  loop.run_until_idle();
  check(received[0].value + received[1].value == 3, "each value once");
}

HEIST_MODEL_PROGRAM(progress_of_receiving, 1) {
  const Channel<int> channel(2);
  for (int i = 1; i < 3; ++i) check(channel.try_send(i), "there is room");
  for (int i = 0; i < 2; ++i) {
    spawn([&] {
      const Operation operation("receive a value");
      static_cast<void>(channel.try_receive());
    });
  }
  spawn([&] {
    const Operation operation("close a channel");
    channel.close();
  });
  static_cast<void>(channel.try_send(3));
  if (join_all()) check(channel.is_closed(), "it is closed");
}
