// Heist: operations of senders on one agent, and for comparison posts of the same work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/agent.hpp>
#include <memory>
#include <new>
#include <utility>

#include "../../../tests/support/senders.hpp"
#include "../../completion.hpp"

#define HEIST_EXECUTION_NAMESPACE heist::support::senders
#include <heist/execution.hpp>

namespace bench {

/// Connects each operation in a place of its own, as a parent's operation state has it, and starts
/// it there.
class HeistSenders {
 public:
  static constexpr const char* name = "heist";

  explicit HeistSenders(std::int64_t most)
      : places_(std::make_unique_for_overwrite<Place[]>(std::size_t(most))) {}
  void start(std::int64_t number, Completion& done) {
    auto* const operation = ::new (&places_[std::size_t(number)])
        Operation(heist::support::senders::connect(scheduler_.schedule(), Counting{&done}));
    operation->start();
  }

 private:
  struct Counting {
    using receiver_concept = heist::execution::ReceiverTag;
    Completion* done;
    void set_value() noexcept { done->add(1); }
  };
  using Operation = heist::support::senders::connect_result_t<
      heist::execution::ScheduleSender<heist::execution::TaskScheduler>, Counting>;
  struct alignas(Operation) Place {
    std::byte bytes[sizeof(Operation)];
  };

  std::unique_ptr<Place[]> places_;
  heist::Agent agent_;
  heist::execution::TaskScheduler scheduler_ = heist::execution::as_scheduler(agent_.scheduler());
};

/// Posts what these operations do.
class HeistPosts {
 public:
  static constexpr const char* name = "heist_post";

  explicit HeistPosts(std::int64_t /*most*/) {}
  void start(std::int64_t /*number*/, Completion& done) {
    scheduler_.post([to = &done] { to->add(1); });
  }

 private:
  heist::Agent agent_;
  heist::Scheduler scheduler_ = agent_.scheduler();
};

}  // namespace bench
