// Boost.Fiber: a buffered channel between two fibers of one thread, or of two.
#pragma once

#include <boost/fiber/buffered_channel.hpp>
#include <cstdint>
#include <memory>

#include "../../completion.hpp"
#include "../boost_fiber.hpp"

namespace bench {

/// What fibers send and receive.
class FiberValues {
 public:
  explicit FiberValues(std::size_t capacity)
      : channel_(std::make_shared<boost::fibers::buffered_channel<std::int64_t>>(capacity)) {}

  void send(std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) channel_->push(i);
  }
  void receive(Completion& received) const {
    std::int64_t value = 0;
    do {
      channel_->pop(value);
    } while (!received.add(static_cast<std::uint64_t>(value)));
  }

 private:
  std::shared_ptr<boost::fibers::buffered_channel<std::int64_t>> channel_;
};

class FiberChannels : public FiberSubject {
 public:
  void begin(std::size_t room, std::int64_t count, Completion& received) {
    post([this, values = FiberValues(room), count, &received] {
      post_inside([values, count] { values.send(count); });
      post_inside([values, &received] { values.receive(received); });
    });
  }
};

class FiberPoolChannels {
 public:
  static constexpr const char* name = FiberSubject::name;
  void begin(std::size_t capacity, std::int64_t count, Completion& received) {
    const FiberValues values(capacity);
    sender_.post([values, count] { values.send(count); });
    receiver_.post([values, &received] { values.receive(received); });
  }

 private:
  FiberSubject sender_;
  FiberSubject receiver_;
};

}  // namespace bench
