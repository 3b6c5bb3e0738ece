// A handler of Asio runs as a task of an installed heist.
#include <heist/asio.hpp>
#include <heist/heist.hpp>

int main() {
  heist::asio::TaskContext context;
  heist::EventLoop loop;
  const heist::asio::Executor executor(context, loop.scheduler());
  bool called = false;
  executor.require(heist::asio::priority(heist::TaskPriority::user_blocking)).execute([&] {
    called = true;
  });
  loop.run_until_idle();
  return called ? 0 : 1;
}
