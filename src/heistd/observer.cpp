#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <exception>
#include <heist/asio/async_wait.hpp>
#include <heist/promise.hpp>
#include <heist/trace.hpp>
#include <heistd/guarded.hpp>
#include <heistd/memory_file.hpp>
#include <heistd/observer.hpp>
#include <new>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

/// Of all threads together: 16 MiB.
constexpr std::size_t most_events = std::size_t{1} << 19U;
constexpr std::size_t most_events_of_a_thread = std::size_t{1} << 16U;
/// Besides the agents, the network's thread posts, aborts and sets priorities, and so does the one
/// that closes the agents.
constexpr std::size_t other_threads = 2;

heist::TraceOptions trace_options(std::size_t agents) {
  const auto threads = agents + other_threads;
  return {.events_per_thread = std::min(most_events_of_a_thread, most_events / threads),
          .threads = threads};
}

Reply trace_reply(const heist::Trace& trace, TraceFormat format, const BlockDisposal& disposal) {
  const MemoryFile file("heistd-trace");
  Reply reply;
  if (format == TraceFormat::json) {
    trace.write_json(file.path());
  } else {
    trace.write_perfetto(file.path());
    reply.content_type = "application/octet-stream";
  }
  reply.body.shared = disposal.share(std::make_shared<Blocks>(file.read()));
  return reply;
}

}  // namespace

Observer::~Observer() {
  end_trace();
  for (Place* place : {&dumping_, &tracing_, &measuring_[0], &measuring_[1]}) {
    if (place->thread.joinable()) place->thread.join();
  }
}

Result<std::shared_ptr<Observation>> Observer::dump() {
  if (dumping_.observation) {
    return Refusal{409, "dump_running", "another dump is being made: try again when it is there"};
  }
  return start(dumping_, [this](const std::future<void>& /*early_end*/) {
    Reply reply;
    reply.content_type = "text/plain; charset=utf-8";
    reply.body = {sources_.dump()};
    return reply;
  });
}

Result<std::shared_ptr<Observation>> Observer::metrics(Figures figures) {
  const auto place = std::ranges::find(measuring_, nullptr, &Place::observation);
  if (place == measuring_.end()) {
    return Refusal{409, "metrics_running",
                   "two others are being given the metrics: try again when they have them"};
  }
  figures.certificate_end = sources_.certificate_end();
  return start(
      *place, [this, figures = std::move(figures)](const std::future<void>& /*early_end*/) mutable {
        figures.disk = sources_.disk();
        Reply reply;
        reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
        reply.body = {prometheus_text(sources_.metrics(), figures)};
        return reply;
      });
}

Result<std::shared_ptr<Observation>> Observer::trace(const TraceRequest& request) {
  if (tracing_.observation) {
    return Refusal{409, "trace_running", "another trace runs: try again when it has ended"};
  }
  auto trace = std::make_unique<heist::Trace>(trace_options(agents_));
  return start(tracing_, [this, trace = std::move(trace),
                          request](const std::future<void>& early_end) mutable {
    early_end.wait_for(request.duration);
    trace->stop();
    // The trace is freed before this returns, and not by the network, which has no time for it.
    const auto stopped = std::move(trace);
    return trace_reply(*stopped, request.format, disposal_);
  });
}

void Observer::end_trace() {
  if (tracing_.observation) tracing_.observation->end_early();
}

/// What may fail for want of memory comes first, so that the thread needs none to tell the network.
template <class Make>
std::shared_ptr<Observation> Observer::start(Place& place, Make make) {
  auto observation = std::make_shared<Observation>();
  auto [promise, resolver] = heist::Promise<Reply>::with_resolver();
  heist::async_wait(
      promise, asio::bind_executor(
                   network_, [&place, observation](const std::exception_ptr& error, Reply reply) {
                     finish(place, observation, error, std::move(reply));
                   }));
  auto run = [make = std::move(make), answer = std::move(resolver),
              early_end = observation->early_end()]() mutable {
    try {
      answer.resolve(make(early_end));
    } catch (...) {
      answer.reject(heist::Reason::of(std::current_exception()));
    }
  };
  place.observation = observation;
  try {
    place.thread = std::thread(std::move(run));
  } catch (const std::exception&) {
    place.observation.reset();
    throw std::bad_alloc();  // to have no thread left is much the same
  }
  return observation;
}

void Observer::finish(Place& place, const std::shared_ptr<Observation>& observation,
                      const std::exception_ptr& error, Reply reply) {
  if (place.observation != observation) return;  // it had no thread
  place.thread.join();
  place.observation.reset();
  observation->reply = heistd::guarded([&] {
    if (error) std::rethrow_exception(error);
    return std::move(reply);
  });
  if (observation->on_made) observation->on_made();
}

}  // namespace heistd
