// A program whose parallel_scheduler an installed heist runs; the library of senders is a stand-in,
// which the build includes before everything else.
#include <atomic>
#include <cstddef>
#include <exception>
#include <heist/parallel_scheduler.hpp>
#include <optional>
#include <thread>

namespace replacement = heist::support::senders::parallel_scheduler_replacement;

struct Sum : replacement::bulk_item_receiver_proxy {
  std::atomic<std::size_t> value{0};
  std::atomic<bool> has_ended{false};

  void set_value() noexcept override { has_ended = true; }
  void set_error(std::exception_ptr /*error*/) noexcept override { std::terminate(); }
  void set_stopped() noexcept override { std::terminate(); }
  void execute(std::size_t begin, std::size_t end) noexcept override {
    for (; begin != end; ++begin) value += begin;
  }
  std::optional<heist::support::senders::inplace_stop_token> stop_token() noexcept override {
    return {};
  }
};

int main() {
  Sum sum;
  replacement::query_parallel_scheduler_backend()->schedule_bulk_chunked(1'000, sum, {});
  while (!sum.has_ended) std::this_thread::yield();
  return sum.value == 499'500 ? 0 : 1;
}
