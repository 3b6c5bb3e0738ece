#include "support/tested_loop.hpp"

#include <cstdlib>
#include <string>

#include "heist/loop/drive_scope.hpp"

namespace heist::support {

using namespace detail;

TestedLoop::TestedLoop() {
  const char* const agents =
      std::getenv("HEIST_TEST_AGENTS");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (agents != nullptr) {
    in_cluster_ = std::make_unique<ClusterLoop>(static_cast<unsigned>(std::stoul(agents)));
  } else {
    own_ = std::make_unique<EventLoop>(EventLoopOptions{.clock = LoopClock::virtual_time});
  }
}

void TestedLoop::on_agent(const std::function<void(LoopCore&)>& work) {
  if (in_cluster_) return in_cluster_->on_agent(work);
  const DriveScope driving(core());
  work(core());
}

void TestedLoop::run_most_urgent() {
  if (in_cluster_) return in_cluster_->run_most_urgent();
  own_->run_one();
}

void TestedLoop::needs_driver() const {
  if (in_cluster_) skip_test("needs a virtual clock, or to drive the loop alone");
}

}  // namespace heist::support
