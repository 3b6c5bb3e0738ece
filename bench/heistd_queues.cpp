// How long does an urgent job wait while a backlog of background jobs stands: on a heist agent, and
// on a FIFO pool?
//
// The jobs are heistd's own (src/heistd), without HTTP: the backlog compresses, and each
// millisecond an urgent job arrives that digests 4 KiB. Prints one line of JSON; heistd_latency.py
// makes the table.
#include <algorithm>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdlib>
#include <functional>
#include <heist/agent.hpp>
#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/level_stats.hpp>
#include <heistd/limits.hpp>
#include <iostream>
#include <latch>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace {

using Clock = std::chrono::steady_clock;
using heist::TaskPriority;
using namespace std::chrono_literals;

/// Text that compresses about as well as logs do.
std::string make_text(std::size_t bytes) {
  static constexpr std::string_view words[] = {"GET",   "POST", "/jobs/", "digest", "compress",
                                               "error", "200",  "404",    "took",   "ms"};
  std::mt19937 random(1);
  std::string text;
  while (text.size() < bytes) {
    text += words[random() % std::size(words)];
    text += ' ' + std::to_string(random() % 100000) + (random() % 8 == 0 ? '\n' : ' ');
  }
  text.resize(bytes);
  return text;
}

class AgentExecutor {
 public:
  template <class Task>
  void post(Task task, TaskPriority priority) {
    agent_.scheduler().post(std::move(task), {.priority = priority});
  }

 private:
  heist::Agent agent_;
};

class FifoExecutor {
 public:
  ~FifoExecutor() { pool_.join(); }
  template <class Task>
  void post(Task task, TaskPriority /*priority: a FIFO pool has none*/) {
    boost::asio::post(pool_, std::move(task));
  }

 private:
  boost::asio::thread_pool pool_{1};
};

/// What the executor's thread measures.
struct Figures {
  heistd::DurationHistogram urgent_delay;
  std::chrono::nanoseconds longest_chunk{};
};

template <class Executor>
class Bench {
 public:
  Figures run(std::size_t jobs, const std::string& body) {
    std::latch gate(1);
    executor_.post([&] { gate.wait(); }, TaskPriority::user_blocking);
    backlog_ = jobs;
    for (std::size_t i = 0; i < jobs; ++i) {
      start(heistd::make_compress_work({body}), TaskPriority::background);
    }
    gate.count_down();
    post_urgent_jobs();
    std::latch done(1);
    executor_.post([&] { done.count_down(); }, TaskPriority::background);
    done.wait();
    return std::move(figures_);
  }

 private:
  void post_urgent_jobs() {
    const std::string body(4096, 'x');
    auto next = Clock::now();
    while (backlog_.load() > 0) {
      start(heistd::make_digest_work({body}), TaskPriority::user_blocking);
      std::this_thread::sleep_until(next += 1ms);
    }
  }

  void start(std::shared_ptr<heistd::JobWork> work, TaskPriority priority) {
    const auto posted = Clock::now();
    executor_.post(
        [this, work = std::move(work), priority, posted] {
          if (priority == TaskPriority::user_blocking)
            figures_.urgent_delay.add(Clock::now() - posted);
          run_chunk(work, priority);
        },
        priority);
  }

  void run_chunk(const std::shared_ptr<heistd::JobWork>& work, TaskPriority priority) {
    const auto start = Clock::now();
    const bool done = work->step(heistd::chunk_budget);
    const std::chrono::nanoseconds took = Clock::now() - start;
    figures_.longest_chunk = std::max(figures_.longest_chunk, took);
    if (!done) {
      executor_.post([this, work, priority] { run_chunk(work, priority); }, priority);
    } else if (priority == TaskPriority::background) {
      --backlog_;
    }
  }

  Figures figures_;
  std::atomic<std::size_t> backlog_{0};
  Executor executor_;  // goes first: its thread uses the rest
};

double microseconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

void print(const Figures& figures) {
  std::cout << "{\"count\": " << figures.urgent_delay.count()
            << ", \"p50\": " << microseconds(figures.urgent_delay.quantile(0.5))
            << ", \"p99\": " << microseconds(figures.urgent_delay.quantile(0.99))
            << ", \"max\": " << microseconds(figures.urgent_delay.max())
            << ", \"longest_chunk\": " << microseconds(figures.longest_chunk) << "}" << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view executor = argc == 4 ? argv[1] : "";
  if (executor != "agent" && executor != "fifo") {
    std::cerr << "usage: heistd_queues agent|fifo JOBS BYTES_EACH" << std::endl;
    return 2;
  }
  const auto jobs = std::stoul(argv[2]);
  const auto body = make_text(std::min<std::size_t>(std::stoul(argv[3]), heistd::block_bytes));
  print(executor == "agent" ? Bench<AgentExecutor>().run(jobs, body)
                            : Bench<FifoExecutor>().run(jobs, body));
}
