// One signal for each request: its own abort, the server's shutdown, or a time limit, whichever
// comes first.
#include <cstdio>
#include <heist/heist.hpp>

int main() {
  using namespace std::chrono_literals;
  const heist::Agent agent;
  const heist::Scheduler scheduler = agent.scheduler();
  heist::AbortController shutdown;

  int aborted = 0;
  for (int request = 0; request < 3; ++request) {
    heist::AbortController connection;
    const auto signal =
        heist::AbortSignal::any({connection.signal(), shutdown.signal(),
                                 heist::AbortSignal::timeout(scheduler, request == 0 ? 1ms : 1h)});
    const auto answer = heist::sleep_for(scheduler, 1h, signal);
    if (request == 1) connection.abort("the client has gone");
    if (request == 2) shutdown.abort("the server stops");
    try {
      answer.get();
    } catch (const heist::TimeoutError& error) {
      std::printf("request 0: %s\n", error.what());
      ++aborted;
    } catch (const heist::Aborted& error) {
      std::printf("request %d: %s\n", request, error.reason().what().c_str());
      ++aborted;
    }
  }
  return aborted == 3 ? 0 : 1;
}
