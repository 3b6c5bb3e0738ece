// What the backend of a parallel_scheduler does with the proxies that a frontend gives it.
#ifndef HEIST_TESTS_USE_STDEXEC  // which has proxies of its own
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <heist/heist.hpp>
#include <heist/parallel_scheduler.hpp>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

namespace heist::execution {
namespace {

/// How an operation has ended.
enum class End { none, value, error, stopped };

/// What is called first by whoever ends it: nothing may touch it afterwards.
class Proxy : public replacement::bulk_item_receiver_proxy {
 public:
  explicit Proxy(std::size_t count = 0) : calls_(count) {}
  void set_value() noexcept override { end_ = End::value; }
  void set_error(std::exception_ptr /*error*/) noexcept override { end_ = End::error; }
  void set_stopped() noexcept override { end_ = End::stopped; }
  void execute(std::size_t begin, std::size_t end) noexcept override {
    if (stops_on_call) source_.request_stop();
    longest_ = std::max(longest_.load(), end - begin);
    if (meeting != 0) {
      ++arrived_;
      while (arrived_ != meeting) std::this_thread::yield();
    }
    for (; begin != end && begin < calls_.size(); ++begin) ++calls_[begin];
  }

  [[nodiscard]] End wait() const {
    while (end_ == End::none) std::this_thread::yield();
    return end_;
  }
  [[nodiscard]] End end() const { return end_; }
  [[nodiscard]] bool each_once() const {
    for (const auto& calls : calls_)
      if (calls != 1) return false;
    return true;
  }
  [[nodiscard]] std::size_t longest() const { return longest_; }
  void request_stop() { source_.request_stop(); }

  unsigned meeting = 0;  ///< so many calls wait for each other
  bool stops_on_call = false;

 protected:
  std::optional<exq::inplace_stop_token> stop_token() noexcept override {
    return source_.get_token();
  }

 private:
  exq::inplace_stop_source source_;
  std::vector<std::atomic<int>> calls_;
  std::atomic<std::size_t> longest_{0};
  std::atomic<unsigned> arrived_{0};
  std::atomic<End> end_{End::none};
};

using Scratch = std::array<std::byte, 160>;
static_assert(sizeof(BackendOperation<ProxyTurn>) == 72);
static_assert(sizeof(BackendOperation<ProxyBulk>) == 88);

class BackendOn : public testing::TestWithParam<unsigned> {
 protected:
  AgentCluster cluster{{.agents = GetParam()}};
  std::shared_ptr<replacement::parallel_scheduler_backend> backend =
      make_parallel_scheduler_backend(cluster.scheduler());
};
INSTANTIATE_TEST_SUITE_P(Agents, BackendOn, testing::Values(1U, 2U, 8U));

// Rule: SND-10
TEST_P(BackendOn, schedule_when_there_is_scratch_or_none_then_it_completes) {
  for (const std::size_t size : {160U, 72U, 71U, 0U}) {
    alignas(8) Scratch scratch;
    Proxy proxy;
    backend->schedule(proxy, std::span(scratch).first(size));
    EXPECT_EQ(proxy.wait(), End::value);
  }
}

// Rule: SND-10
TEST_P(BackendOn, schedule_bulk_chunked_when_it_runs_then_each_index_is_in_one_call) {
  alignas(8) Scratch scratch;
  Proxy proxy(100'000);
  backend->schedule_bulk_chunked(100'000, proxy, scratch);
  EXPECT_EQ(proxy.wait(), End::value);
  EXPECT_TRUE(proxy.each_once());
  EXPECT_GT(proxy.longest(), 1U);
}

// Rule: SND-10
TEST_P(BackendOn, schedule_bulk_unchunked_when_it_runs_then_each_index_has_a_call) {
  alignas(8) Scratch scratch;
  Proxy proxy(10'000);
  backend->schedule_bulk_unchunked(10'000, proxy, scratch);
  EXPECT_EQ(proxy.wait(), End::value);
  EXPECT_TRUE(proxy.each_once());
  EXPECT_EQ(proxy.longest(), 1U);
}

// Rule: SND-10
TEST_P(BackendOn, schedule_bulk_unchunked_when_calls_wait_for_each_other_then_agents_share_them) {
  Scratch scratch;
  Proxy proxy(GetParam());
  proxy.meeting = GetParam();
  backend->schedule_bulk_unchunked(GetParam(), proxy, scratch);
  EXPECT_EQ(proxy.wait(), End::value);
  EXPECT_TRUE(proxy.each_once());
}

// Rule: SND-10
TEST_P(BackendOn, request_stop_when_bulk_runs_then_it_is_stopped) {
  Scratch scratch;
  Proxy proxy;
  proxy.stops_on_call = true;
  backend->schedule_bulk_unchunked(std::size_t{1} << 60U, proxy, scratch);
  EXPECT_EQ(proxy.wait(), End::stopped);
}

// Rule: SND-10
TEST_P(BackendOn, close_when_it_is_called_afterwards_then_it_is_stopped) {
  cluster.close(CloseMode::abort());
  Scratch scratch;
  Proxy one;
  backend->schedule(one, scratch);
  EXPECT_EQ(one.end(), End::stopped);
  Proxy all(10);
  backend->schedule_bulk_chunked(10, all, {});
  EXPECT_EQ(all.end(), End::stopped);
}

// Rule: SND-10
TEST(Backend, schedule_when_backends_have_priorities_then_the_most_urgent_is_first) {
  EventLoop loop;
  Scratch later_scratch;
  Scratch sooner_scratch;
  Proxy later;
  Proxy sooner;
  make_parallel_scheduler_backend(loop.scheduler(), TaskPriority::background)
      ->schedule(later, later_scratch);
  make_parallel_scheduler_backend(loop.scheduler(), TaskPriority::user_blocking)
      ->schedule(sooner, sooner_scratch);
  loop.run_one();
  EXPECT_EQ(sooner.end(), End::value);
  EXPECT_EQ(later.end(), End::none);
  loop.run_until_idle();
  EXPECT_EQ(later.end(), End::value);
}

// Rule: SND-10
TEST(Backend, request_stop_when_it_waits_then_it_is_stopped_at_its_turn) {
  EventLoop loop;
  Scratch scratch;
  Proxy proxy;
  make_parallel_scheduler_backend(loop.scheduler())->schedule(proxy, scratch);
  proxy.request_stop();
  loop.run_until_idle();
  EXPECT_EQ(proxy.end(), End::stopped);
}

// Rule: SND-10
TEST(Backend, query_when_the_program_links_the_replacement_then_a_cluster_of_heist_runs_it) {
  const auto backend = replacement::query_parallel_scheduler_backend();
  EXPECT_EQ(backend, replacement::query_parallel_scheduler_backend());
  Scratch scratch;
  Proxy proxy;
  backend->schedule(proxy, scratch);
  EXPECT_EQ(proxy.wait(), End::value);
}

}  // namespace
}  // namespace heist::execution
#endif
