// What programs write with a thread pool of Asio, and with heist (docs/migrating/asio.md).
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <heist/asio.hpp>
#include <heist/heist.hpp>
#include <string>

namespace net = boost::asio;
using namespace std::chrono_literals;

namespace {

std::atomic<int> done{0};
void work() { ++done; }
std::string read_page(int number) { return "page " + std::to_string(number); }

namespace with_asio {

void post_and_wait() {
  net::thread_pool pool(2);
  net::post(pool, work);
  net::post(pool, work);
  pool.join();
}

std::string get_result(net::thread_pool& pool) {
  std::future<std::string> page = net::post(pool, net::use_future([] { return read_page(1); }));
  return page.get();
}

void count_in_order(net::thread_pool& pool, std::string& log) {
  auto strand = net::make_strand(pool);
  for (char digit = '0'; digit < '5'; ++digit) net::post(strand, [&, digit] { log += digit; });
}

void run_later(net::steady_timer& timer) {
  timer.expires_after(1ms);
  timer.async_wait([](const boost::system::error_code& error) {
    if (!error) work();
  });
}

net::awaitable<std::string> read_two() {
  const std::string first = read_page(1);
  co_await net::post(co_await net::this_coro::executor, net::use_awaitable);  // lets others run
  co_return first + ", " + read_page(2);
}

}  // namespace with_asio

namespace with_heist {

void post_and_wait() {
  heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler pool = cluster.scheduler();
  pool.post(work);
  pool.post(work, {.priority = heist::TaskPriority::user_blocking});
  cluster.close(heist::CloseMode::drain());
}

std::string get_result(const heist::Scheduler& pool) {
  const heist::Promise<std::string> page = pool.post_task([] { return read_page(1); });
  return page.get();
}

void count_in_order(const heist::AgentCluster& cluster, std::string& log) {
  const heist::Scheduler strand = cluster.agent(0).scheduler();
  for (char digit = '0'; digit < '5'; ++digit) strand.post([&, digit] { log += digit; });
}

void run_later(const heist::Scheduler& pool, const heist::AbortSignal& signal) {
  pool.post(work, {.signal = signal, .delay = 1ms});
}

heist::Promise<std::string> read_two() {
  const std::string first = read_page(1);
  co_await heist::yield();
  co_return first + ", " + read_page(2);
}

}  // namespace with_heist

/// Code that only takes an executor stays as it is.
template <class AnyExecutor>
void post_twice(const AnyExecutor& executor) {
  net::post(executor, work);
  net::post(executor, work);
}

void keep_posting() {
  heist::asio::TaskContext context;
  heist::AgentCluster cluster({.agents = 2});
  const heist::asio::Executor executor(context, cluster);
  post_twice(executor);
  post_twice(net::require(executor, heist::asio::priority(heist::TaskPriority::background)));
  cluster.close(heist::CloseMode::drain());
}

bool run_with_asio() {
  with_asio::post_and_wait();
  net::thread_pool pool(2);
  std::string log;
  const std::string page = with_asio::get_result(pool);
  with_asio::count_in_order(pool, log);
  net::steady_timer timer(pool);
  with_asio::run_later(timer);
  auto pages = net::co_spawn(pool, with_asio::read_two, net::use_future);
  pool.join();
  return page == "page 1" && log == "01234" && pages.get() == "page 1, page 2";
}

bool run_with_heist() {
  with_heist::post_and_wait();
  heist::AgentCluster cluster({.agents = 2});
  const heist::Scheduler pool = cluster.scheduler();
  const heist::AbortController controller;
  std::string log;
  const std::string page = with_heist::get_result(pool);
  with_heist::count_in_order(cluster, log);
  with_heist::run_later(pool, controller.signal());
  const auto pages = pool.post_task(with_heist::read_two);
  const bool same = pages.get() == "page 1, page 2";
  auto mode = heist::CloseMode::drain();
  mode.wait_for_delayed = true;  // for what run_later() has posted
  cluster.close(mode);
  return same && page == "page 1" && log == "01234";
}

bool run() {
  if (!run_with_asio() || done != 3) return false;
  if (!run_with_heist() || done != 6) return false;
  keep_posting();
  std::printf("%d calls\n", done.load());
  return done == 10;
}

}  // namespace

int main() {
  try {
    return run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "asio: %s\n", error.what());
    return 1;
  }
}
