// asio_server: how long it takes until the handler of an urgent request starts in a server on
// Boost.Asio, while 10 000 background handlers are queued, each of which takes 0.5 ms and posts
// itself again: as many and as long as the chunks of heistd in bench/heistd_latency.py. One thread
// has the sockets, another one runs the handlers; or one does both. A client sends a request each
// millisecond.
#include <chrono>

#include "../../subjects/asio_servers.hpp"
#include "background.hpp"
#include "subjects.hpp"
#include "urgent_tasks.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

constexpr std::int64_t background_handlers = 10'000;
constexpr std::chrono::microseconds handler_work(500);
constexpr std::int64_t requests = 2'000;

template <class Server>
void serve(Run& run) {
  Server server;
  Background background(server, run.scaled(background_handlers), handler_work);
  UrgentTasks handlers(run.scaled(requests), std::chrono::milliseconds(1));
  run.start();
  handlers.post_all(server);
  run.stop(run.scaled(requests));
  background.stop();
  report_tail(run, handlers.delays());
}

}  // namespace

void add_asio_server(Registry& registry) {
  add_for(
      SubjectList<AsioServer<HeistHandlers>, AsioServer<HeistAgents>, AsioServer<AsioHandlers>>(),
      registry,
      {.workload = "asio_server",
       .subject = {},
       .unit = "us",
       .measure = {},
       .figures = {"/p50", "/p99", "/p999"}},
      []<class Server>(Run& run) { serve<Server>(run); });
}

}  // namespace bench
