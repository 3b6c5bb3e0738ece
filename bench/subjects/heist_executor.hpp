// Heist by way of Asio: an agent's executor, to which boost::asio::post posts.
#pragma once

#include <boost/asio/post.hpp>
#include <heist/agent.hpp>
#include <heist/asio.hpp>
#include <utility>

#include "heist.hpp"

namespace bench {

class HeistExecutor {
 public:
  static constexpr const char* name = "heist";
  template <class F>
  void post(F&& f) {
    boost::asio::post(executor_, std::forward<F>(f));
  }

 private:
  heist::asio::TaskContext context_;
  heist::Agent agent_;
  heist::asio::Executor executor_{context_, agent_.scheduler()};
};

/// What the executor posts with.
class HeistWithoutExecutor : public HeistSubject {
 public:
  static constexpr const char* name = "heist_scheduler";
};

}  // namespace bench
