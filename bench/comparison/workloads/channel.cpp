// channel1, channel2: a coroutine sends numbers to another one through a channel with room for 64,
// on one thread or two; the time of each number.
#include <cstdint>

#include "../../completion.hpp"
#include "../../subjects/channels/asio_channels.hpp"
#include "../../subjects/channels/fiber_channels.hpp"
#include "../../subjects/channels/heist_channels.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t values = 1'000'000;
constexpr std::size_t capacity = 64;

template <class Subject>
Completion::Clock::time_point send_and_receive(Subject& subject, std::int64_t count) {
  Completion received(count, static_cast<std::uint64_t>(count * (count - 1) / 2));
  subject.begin(capacity, count, received);
  received.wait();
  return received.ended();
}

template <class Subject>
void channel(Run& run) {
  const auto count = run.scaled(values);
  Subject subject;
  send_and_receive(subject, count / 4);
  run.start();
  run.stop(count, send_and_receive(subject, count));
  run.report_time();
}

}  // namespace

void add_channel(Registry& registry) {
  const auto measure = []<class Subject>(Run& run) { channel<Subject>(run); };
  add_for(SubjectList<HeistChannels, AsioChannels, FiberChannels>(), registry,
          {.workload = "channel1", .subject = {}, .unit = "ns", .measure = {}}, measure);
  add_for(SubjectList<HeistPoolChannels, AsioPoolChannels, FiberPoolChannels>(), registry,
          {.workload = "channel2", .subject = {}, .unit = "ns", .measure = {}}, measure);
}

}  // namespace bench
