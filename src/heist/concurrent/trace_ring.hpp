// TraceRing: the last events of one thread, while a Trace runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace_event.hpp"

namespace HEIST_NAMESPACE::detail {

/// Who records in a ring.
struct TracedThread {
  std::uint64_t id = 0;  ///< the system's number
  std::string name;
};

// Roles   owner: the thread that has claimed the ring; it records.  reader: whoever has stopped the
//         trace, or looks at one that runs.  starter: whoever begins a trace. Starters and readers
//         hold a mutex, so there is one of them at a time.
// States  free; owned, by one thread; left, since its owner has ended: what it recorded is still to
//         be read. Only a starter frees it again.
// I1      One thread records at a time, so no event needs a read-modify-write.
// I2      The owner writes the words of event n only after it has counted n events. So a reader
//         that has seen any word of it reads n or more as the count. It takes the event before in
//         the same place only if the count is less than n after it has read the words.
// I3      There is one place more than events are kept. So the event that is being written is none
//         of those which a reader may take, once nobody records any more.
// Edge trace_ring: count -> see. Carries the event, and who recorded it.
// Edge trace_ring: write -> read. Carries the count (I2).
// Edge trace_ring: leave -> clear. Carries all that the owner did.
// Edge trace_ring: free -> claim. Carries the same to the next owner.
// Reclamation  Rings are never freed: a thread may be about to record when its trace ends.
// Progress  wait-free; a reader skips what is overwritten meanwhile.
// Proof   stress/model/models/trace_ring.cpp
class TraceRing {
 public:
  /// Keeps the last `events`.   Errors: std::bad_alloc.
  explicit TraceRing(std::size_t events) : places_(events + 1), memory_(allocate(places_)) {}
  TraceRing(const TraceRing&) = delete;
  TraceRing& operator=(const TraceRing&) = delete;
  ~TraceRing() {
    if (words_ != nullptr) std::destroy_n(words_, places_);
    allocator().deallocate(memory_, places_);
  }

  // What any thread calls.

  /// Makes the caller the owner. Returns false when the ring is not free.   Cost: the first time it
  /// touches all the memory of the ring.
  [[nodiscard]] bool try_claim() noexcept {
    auto seen = State::free;
    // relaxed: a failure reads nothing.
    if (!state_.compare_exchange_strong(
            seen, State::owned, sync::edge("trace_ring:claim", sync::acquire), sync::relaxed)) {
      return false;
    }
    if (words_ == nullptr) {
      words_ = memory_;
      std::uninitialized_value_construct_n(words_, places_);
    }
    return true;
  }

  // What only the owner calls.

  /// To be called before the first event.
  void set_thread(std::uint64_t id, std::string_view name) noexcept {
    id_ = id;
    name_ = {};
    name.copy(name_.data(), name_.size() - 1);
  }
  void record(std::uint64_t first, std::uint64_t second, std::uint64_t third,
              std::uint64_t fourth) noexcept {
    Place& place = words_[next_];
    place[0].store(first, sync::edge("trace_ring:write", sync::release));
    place[1].store(second, sync::edge("trace_ring:write", sync::release));
    place[2].store(third, sync::edge("trace_ring:write", sync::release));
    place[3].store(fourth, sync::edge("trace_ring:write", sync::release));
    next_ = next_ + 1 == places_ ? 0 : next_ + 1;
    // relaxed: the owner reads what it wrote.
    count_.store(count_.load(sync::relaxed) + 1, sync::edge("trace_ring:count", sync::release));
  }
  /// Called when the owner's thread ends.
  void leave() noexcept {
    state_.store(State::left, sync::edge("trace_ring:leave", sync::release));
  }

  // What starters and readers call.

  /// Whether the owner's thread has ended.
  [[nodiscard]] bool is_left() const noexcept {
    return state_.load(sync::edge("trace_ring:clear", sync::acquire)) == State::left;
  }
  /// Lets another thread claim it.   Precondition: is_left().
  void free() noexcept { state_.store(State::free, sync::edge("trace_ring:free", sync::release)); }
  /// How many events were recorded in all.
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(sync::edge("trace_ring:see", sync::acquire));
  }
  /// Fills `events`, which is empty, with those from number `first` on that are still there, the
  /// oldest first and none left out between them. Returns how many were overwritten.
  /// Errors: std::bad_alloc.
  std::uint64_t read(std::uint64_t first, std::vector<TraceEvent>& events) const {
    const std::uint64_t end = count();
    const std::uint64_t kept = places_ - 1;
    const std::uint64_t gone = end - first > kept ? end - first - kept : 0;
    for (std::uint64_t at = first + gone; at < end; ++at) {
      events.push_back(copy_of(at));
      // relaxed: I2, by the words that were read.
      if (count_.load(sync::relaxed) >= at + places_) events.clear();
    }
    return end - first - events.size();
  }
  /// Precondition: count() has grown since the trace began.
  [[nodiscard]] TracedThread thread() const { return {.id = id_, .name = name_.data()}; }

 private:
  enum class State : std::uint8_t { free, owned, left };
  using Place = std::array<sync::atomic<std::uint64_t>, std::tuple_size_v<TraceEvent::Words>>;

  static std::allocator<Place> allocator() noexcept { return {}; }
  static Place* allocate(std::size_t places) {
    if (places == 0) throw std::bad_array_new_length();  // their number has overflowed
    return allocator().allocate(places);
  }
  [[nodiscard]] TraceEvent copy_of(std::uint64_t number) const noexcept {
    TraceEvent::Words words{};
    const Place& place = words_[number % places_];
    for (std::size_t i = 0; i < words.size(); ++i) {
      words[i] = place[i].load(sync::edge("trace_ring:read", sync::acquire));
    }
    return TraceEvent::from_words(words);
  }

  alignas(64) sync::atomic<State> state_{State::free};
  const std::size_t places_;
  Place* const memory_;
  // The owner writes these with each event, so they share no line with other rings.
  alignas(64) Place* words_ = nullptr;  ///< memory_, once it is constructed
  std::size_t next_ = 0;                ///< the place of the next event
  sync::atomic<std::uint64_t> count_{0};
  std::uint64_t id_ = 0;
  std::array<char, 16> name_{};  ///< as long as the system lets it be
};

}  // namespace HEIST_NAMESPACE::detail
