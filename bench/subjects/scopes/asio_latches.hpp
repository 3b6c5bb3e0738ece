// Boost.Asio: a thread pool, and a latch that each task counts down.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <cstdint>
#include <latch>

namespace bench {

class AsioLatches {
 public:
  static constexpr const char* name = "asio_thread_pool";
  explicit AsioLatches(int threads) : pool_(std::size_t(threads)) {}
  ~AsioLatches() { pool_.join(); }

  template <class Work>
  void run(std::int64_t count, const Work& work) {
    std::latch left(count);
    for (std::int64_t i = 0; i < count; ++i) {
      boost::asio::post(pool_, [&, i] {
        work(i);
        left.count_down();
      });
    }
    left.wait();
  }

 private:
  boost::asio::thread_pool pool_;
};

}  // namespace bench
