// What the library has from elsewhere, in model-checking builds: node memory, sleeping on words,
// moodycamel's queue, the processor's counter, traces. (The library is compiled without
// node_pool.cpp, word_wait.cpp, waiting_line.cpp, cycle_rate.cpp and tracing.cpp.)
#include <heist/detail/cycle_rate.hpp>
#include <heist/detail/node_memory.hpp>
#include <memory>
#include <new>
#include <utility>

#include "concurrent/trace_watch.hpp"
#include "concurrent/tracing.hpp"
#include "concurrent/waiting_line.hpp"
#include "model_time.hpp"
#include "os/word_wait.hpp"
#include "out_of_memory.hpp"

namespace HEIST_NAMESPACE::detail {

constinit NodeCache no_cache{};
constinit thread_local NodeCache* node_cache = &no_cache;

void* allocate_node_elsewhere(std::size_t bytes) {
  if (model::OutOfMemory::takes_effect()) throw std::bad_alloc();
  return ::operator new(bytes, std::align_val_t{64});
}

void release_node_elsewhere(void* node, std::size_t bytes) noexcept {
  ::operator delete(node, bytes, std::align_val_t{64});
}

// Virtual threads share one copy of what is a thread's own.
std::uint64_t number_of_this_thread() noexcept { return 1; }

// The processor's counter knows nothing of a model's time.
bool has_constant_rate() noexcept { return false; }
CycleRate::CycleRate(bool /*is_real*/) noexcept : has_counter_(false) {}
void CycleRate::measure(std::uint64_t /*before*/, Milliseconds /*now*/,
                        std::uint64_t /*after*/) noexcept {}
std::uint64_t CycleRate::counts_within(Milliseconds /*time*/) const noexcept { return 0; }

/// First in, first out: joined to one end of a list, taken from its other one.
struct WaitingLine::Queue {
  struct Place {
    void* waiter;
    Place* before;
  };
  sync::atomic<Place*> last{nullptr};
};

WaitingLine::WaitingLine() : queue_(std::make_unique<Queue>()) {}
WaitingLine::~WaitingLine() = default;

void WaitingLine::join(void* waiter) {
  if (model::OutOfMemory::takes_effect()) throw std::bad_alloc();
  auto* place = new Queue::Place{waiter, queue_->last.load(sync::relaxed)};
  while (!queue_->last.compare_exchange_weak(place->before, place, sync::acq_rel, sync::relaxed)) {
  }
}

void* WaitingLine::next() noexcept {
  for (;;) {
    Queue::Place* place = queue_->last.load(sync::acquire);
    if (place == nullptr) return nullptr;
    if (place->before == nullptr) {
      Queue::Place* only = place;
      if (!queue_->last.compare_exchange_strong(only, nullptr, sync::acquire, sync::relaxed))
        continue;
    } else {
      while (place->before->before != nullptr) place = place->before;
      place = std::exchange(place->before, nullptr);
    }
    void* waiter = place->waiter;
    delete place;
    return waiter;
  }
}

void wait_on_word(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::optional<std::chrono::steady_clock::time_point> deadline) noexcept {
  model::sleep_on(word.cell(), expected, deadline.has_value(), model::Where::current());
  auto* time = model::ModelTime::current();
  if (time == nullptr || !deadline) return;
  if (word.load(sync::relaxed) == expected) time->slept_until(*deadline);
}

void wake_word(sync::atomic<std::uint32_t>& word) noexcept {
  model::wake(word.cell(), 1, model::Where::current());
}

void wake_all_on_word(sync::atomic<std::uint32_t>& word) noexcept {
  model::wake(word.cell(), model::everybody, model::Where::current());
}

// No trace runs in models.
void Tracing::record_words(std::uint64_t /*time*/, std::uint64_t /*what*/, std::uint64_t /*other*/,
                           std::uint64_t /*rest*/) noexcept {}
TraceWatch::TraceWatch(void* subject, void (*changed)(void* subject) noexcept)
    : subject_(subject), changed_(changed) {}
TraceWatch::~TraceWatch() = default;
void TraceWatch::call_again() noexcept { call(); }

}  // namespace HEIST_NAMESPACE::detail
