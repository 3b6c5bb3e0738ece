// raw_ring: the floor of post1. One producer, one consumer, tasks inline in slots of a cache line,
// no wake-up, no order but that of the ring.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench {

class RawRing {
 public:
  static constexpr const char* name = "raw_ring";
  ~RawRing() {
    post([this] { stop_ = true; });
    thread_.join();
  }
  template <class F>
  void post(F f) {
    static_assert(sizeof(F) <= sizeof(Slot::callable) && std::is_trivially_copyable_v<F>);
    Slot& slot = slots_[tail_ % slots_.size()];
    await(slot.turn, tail_ / slots_.size() * 2);
    new (slot.callable.data()) F(std::move(f));
    slot.call = [](void* callable) { (*static_cast<F*>(callable))(); };
    slot.turn.store(tail_++ / slots_.size() * 2 + 1, std::memory_order_release);
  }

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> turn{0};  ///< even: the producer's, odd: the consumer's
    void (*call)(void*) = nullptr;
    alignas(8) std::array<std::byte, 48> callable;
  };

  static void await(const std::atomic<std::uint64_t>& turn, std::uint64_t wanted) noexcept {
    for (int spins = 0; turn.load(std::memory_order_acquire) != wanted; ++spins) {
      if (spins > 1000) std::this_thread::yield();
    }
  }
  void run() {
    for (std::uint64_t head = 0; !stop_; ++head) {
      Slot& slot = slots_[head % slots_.size()];
      await(slot.turn, head / slots_.size() * 2 + 1);
      slot.call(slot.callable.data());
      slot.turn.store(head / slots_.size() * 2 + 2, std::memory_order_release);
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(4096);
  std::uint64_t tail_ = 0;
  bool stop_ = false;
  std::thread thread_{[this] { run(); }};
};

}  // namespace bench
