// Channels between coroutines of a cluster of 1, 2 or 8 agents, of an agent that closes, and plain
// threads, while waits are aborted and the channel is closed.
//
// I1  Each value that was sent is received once, or left in the channel, and no other one is.
// I2  Who receives gets the values of each sender in their order.
// I3  Each wait ends, in one way: its coroutine goes on, or is destroyed by a close.
#include <array>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "support/crew.hpp"
#include "support/open_one.hpp"
#include "support/stress_run.hpp"

namespace {

using namespace heist;
using namespace heist::detail;
using namespace heist::stress;

constexpr std::size_t members = 4;
constexpr std::size_t coroutines = 12;
constexpr std::size_t senders = members + coroutines;
constexpr std::uint32_t most_sent = 64;

struct Counts {
  sync::atomic<std::uint64_t> sent{0};
  sync::atomic<std::uint64_t> refused{0};
  sync::atomic<std::uint64_t> aborted{0};
};
Counts counts;
void count(sync::atomic<std::uint64_t>& outcome) {
  outcome.fetch_add(1, sync::relaxed);  // relaxed: a number to print.
}

/// What is sent: plain data behind a pointer, which the receiver writes.
struct Value {
  std::size_t sender;
  std::uint32_t number;
  bool is_received = false;
};
using Values = Channel<std::unique_ptr<Value>>;

/// What the threads and coroutines of a round share.
struct Shared {
  explicit Shared(std::size_t capacity) : channel(capacity) {}

  Values channel;
  AbortController aborts;
  sync::atomic<int> open{0};
  sync::atomic<std::uint64_t> received{0};
  std::array<sync::atomic<std::uint32_t>, senders> sent{};
};

/// One who receives, and knows the last value of each sender.
class Receiver {
 public:
  explicit Receiver(Shared& shared) noexcept : shared_(shared) {}

  void take(std::unique_ptr<Value> value) {
    check(!std::exchange(value->is_received, true), "a value was received twice");
    check(value->number > last_[value->sender], "a sender's values changed their order");
    last_[value->sender] = value->number;
    shared_.received.fetch_add(1, sync::relaxed);  // relaxed: read at the end.
  }

 private:
  Shared& shared_;
  std::array<std::uint32_t, senders> last_{};
};

/// One who sends.
class Sender {
 public:
  Sender(Shared& shared, std::size_t number) noexcept : shared_(shared), number_(number) {}

  [[nodiscard]] std::unique_ptr<Value> next() const {
    return std::make_unique<Value>(Value{.sender = number_, .number = sent_ + 1});
  }
  void note(bool is_sent, const std::unique_ptr<Value>& value) {
    check(is_sent == (value == nullptr), "a value was lost, or kept");
    if (!is_sent) return count(counts.refused);
    ++sent_;
    shared_.sent[number_].fetch_add(1, sync::relaxed);  // relaxed: read at the end.
    count(counts.sent);
  }

 private:
  Shared& shared_;
  std::size_t number_;
  std::uint32_t sent_ = 0;
};

std::optional<AbortSignal> signal_or_none(Shared& shared, Random& random) {
  if (random.one_in(2)) return shared.aborts.signal();
  return {};
}

Promise<void> send_some(Shared& shared, std::size_t number, std::uint64_t seed, OpenOne open) {
  const OpenOne own(std::move(open));
  Random random(seed);
  Sender sender(shared, number);
  for (auto left = random.below(most_sent); left > 0; --left) {
    auto value = sender.next();
    const auto signal = signal_or_none(shared, random);
    try {
      const bool is_sent = co_await shared.channel.send(std::move(value), signal);
      sender.note(is_sent, value);
    } catch (const std::exception&) {
      check(value != nullptr, "a value was lost by an abort");
      count(counts.aborted);
    }
    if (random.one_in(16)) co_await yield();
  }
}

Promise<void> receive_some(Shared& shared, std::uint64_t seed, OpenOne open) {
  const OpenOne own(std::move(open));
  Random random(seed);
  Receiver receiver(shared);
  for (auto left = random.below(2 * most_sent); left > 0; --left) {
    const auto signal = signal_or_none(shared, random);
    try {
      auto value = co_await shared.channel.receive(signal);
      if (!value) co_return;
      receiver.take(*std::move(value));
    } catch (const std::exception&) {
      count(counts.aborted);
    }
    if (random.one_in(16)) co_await yield();
  }
}

void post_coroutine(Shared& shared, const Scheduler& scheduler, std::size_t number,
                    Random& random) {
  PostTaskOptions options;
  if (random.one_in(2)) options.priority = static_cast<TaskPriority>(random.below(3));
  if (random.one_in(4)) options.signal = shared.aborts.signal();
  scheduler.post(
      [&shared, number, seed = random(), open = OpenOne(shared.open)]() mutable {
        static_cast<void>(number % 2 == 0 ? send_some(shared, number, seed, std::move(open))
                                          : receive_some(shared, seed, std::move(open)));
      },
      options);
}

/// What a plain thread does.
void meddle(Shared& shared, std::size_t number, Random& random) {
  Sender sender(shared, number);
  Receiver receiver(shared);
  for (auto turns = random.below(2 * most_sent); turns > 0; --turns) {
    if (random.one_in(4)) dither(random);
    if (random.one_in(2)) {
      auto value = sender.next();
      const bool is_sent = shared.channel.try_send(std::move(value));
      sender.note(is_sent, value);
    } else if (auto value = shared.channel.try_receive()) {
      receiver.take(*std::move(value));
    }
  }
}

/// Receives what the coroutines have left, until the end.
void drain(Shared& shared) {
  Receiver receiver(shared);
  check(comes_true([&] {
          while (auto value = shared.channel.try_receive()) receiver.take(*std::move(value));
          return shared.channel.is_ended();
        }),
        "the channel has not ended");
  std::uint64_t sent = 0;
  for (const auto& one : shared.sent) sent += one.load(sync::relaxed);  // relaxed: all have ended.
  // relaxed: as above.
  check(shared.received.load(sync::relaxed) == sent, "values were lost, or made");
}

void run_round(Crew& crew, Random& random) {
  Shared shared(1 + random.below(8));
  constexpr std::array<unsigned, 3> sizes{1, 2, 8};
  AgentCluster cluster({.agents = sizes[random.below(sizes.size())]});
  std::optional<Agent> closing(std::in_place);
  std::array<Random, members> randoms{Random(random()), Random(random()), Random(random()),
                                      Random(random())};
  crew.run([&](std::size_t member) {
    Random& own = randoms[member];
    for (std::size_t i = member; i < coroutines; i += members) {
      post_coroutine(shared, own.one_in(4) ? closing->scheduler() : cluster.scheduler(),
                     members + i, own);
    }
    meddle(shared, member, own);
    if (member == 2) shared.aborts.abort();
    if (member == 3 && own.one_in(2)) shared.channel.close();
  });
  closing->close(CloseMode::abort());
  closing.reset();
  shared.channel.close();
  check(comes_true([&] {
          return shared.open.load(sync::relaxed) == 0;  // relaxed: it looks again.
        }),
        "a wait has not ended");
  cluster.close(CloseMode::drain());
  drain(shared);
}

void ignore(ErrorOrigin /*origin*/, const Reason& /*reason*/) noexcept {}

}  // namespace

int main(int argc, char** argv) {
  const StressOptions options = parse("channel_stress", {argv, static_cast<std::size_t>(argc)});
  set_error_hook(&ignore);
  Crew crew(members);
  const auto rounds = run_rounds(options, [&](Random& random) { run_round(crew, random); });
  // relaxed, all: the threads have met.
  std::printf("%llu rounds: %llu sent, %llu refused, %llu waits aborted\n", printable(rounds),
              printable(counts.sent.load(sync::relaxed)),
              printable(counts.refused.load(sync::relaxed)),
              printable(counts.aborted.load(sync::relaxed)));
  return 0;
}
