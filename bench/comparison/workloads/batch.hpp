// Batch: tasks that several producer threads post at once, with a capture of a given size.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "../../completion.hpp"

namespace bench {

/// A task with a capture of `bytes` bytes in all, whose last word says which task it is: one that
/// runs twice in another's place shows in the sum. `Done` is a Completion or a PoolCompletion.
template <std::size_t bytes, class Done>
struct Payload {
  Done* done;
  std::array<std::uint64_t, (bytes - sizeof(Done*)) / 8> words;
  void operator()() const { done->add(words.back()); }
};
/// The least that a task which is counted can have.
template <class Done>
struct Payload<sizeof(Done*), Done> {
  Done* done;
  void operator()() const { done->add(1); }
};

template <std::size_t bytes, class Done>
[[nodiscard]] Payload<bytes, Done> make_payload(Done& done, std::int64_t number) noexcept {
  if constexpr (bytes == sizeof(Done*)) {
    return {&done};
  } else {
    Payload<bytes, Done> payload{&done, {}};
    payload.words.back() = std::uint64_t(number);
    return payload;
  }
}

/// Of the tasks from 0 to `count` - 1.
template <std::size_t bytes, class Done = Completion>
[[nodiscard]] Done completion_of(std::int64_t count) noexcept {
  if constexpr (bytes == sizeof(Done*)) return Done(count);
  return Done(count, std::uint64_t(count) * std::uint64_t(count - 1) / 2);
}

/// Threads that wait for start_and_join(), then each do their part.
class Producers {
 public:
  template <class Part>
  Producers(int count, Part part) {
    for (int producer = 0; producer < count; ++producer) {
      threads_.emplace_back([this, part, producer] {
        ready_.fetch_add(1);
        while (!started_.load()) std::this_thread::yield();
        part(producer);
      });
    }
    while (ready_.load() != count) std::this_thread::yield();
  }
  Producers(const Producers&) = delete;
  Producers& operator=(const Producers&) = delete;
  void start_and_join() {
    started_.store(true);
    for (auto& thread : threads_) thread.join();
  }

 private:
  std::atomic<int> ready_{0};
  std::atomic<bool> started_{false};
  std::vector<std::thread> threads_;
};

}  // namespace bench
