#include "tracing.hpp"

#include <pthread.h>

#include <chrono>
#include <heist/detail/cycle_rate.hpp>
#include <heist/error.hpp>
#include <mutex>
#include <new>

#include "../os/thread.hpp"
#include "trace_watch.hpp"

namespace HEIST_NAMESPACE::detail {

constinit sync::atomic<bool> Tracing::runs{false};

namespace {

constinit sync::atomic<TraceRings*> current{nullptr};

/// Rings are kept for the life of the process: a thread that has found some may be stopped, and
/// record in them long after the trace.
struct KeptRings {
  TraceRings rings;
  KeptRings* next;
};

/// A fork locks it, so that a child finds it unlocked. It is never destroyed, as static loops may
/// end later.
struct Traces {
  std::mutex mutex;
  KeptRings* kept = nullptr;
  TraceWatch* watches = nullptr;

  void tell_watches() const noexcept {
    for (TraceWatch* watch = watches; watch != nullptr; watch = watch->next()) watch->call();
  }
  TraceRings& rings_of_size(std::size_t events, std::size_t threads) {
    for (KeptRings* at = kept; at != nullptr; at = at->next) {
      if (at->rings.has_size(events, threads)) return at->rings;
    }
    kept = new KeptRings{.rings = TraceRings(events, threads), .next = kept};
    return kept->rings;
  }
};
constinit Traces traces;

/// Errors: std::bad_alloc.
void be_told_of_forks() {
  [[maybe_unused]] static const bool is_told = [] {
    const auto unlock = [] { traces.mutex.unlock(); };
    if (pthread_atfork([] { traces.mutex.lock(); }, unlock, unlock) != 0) throw std::bad_alloc();
    return true;
  }();
}

std::uint64_t steady_now() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
std::uint64_t count_now() noexcept { return has_constant_rate() ? cycle_count() : steady_now(); }

/// The ring of the calling thread.
struct RingHere {
  TraceRings* rings = nullptr;  ///< of which `ring` is one
  TraceRing* ring = nullptr;
  bool counts_cycles = false;  ///< has_constant_rate(), once there is a ring
  bool has_ended = false;      ///< the thread

  void leave() noexcept {
    if (ring != nullptr) ring->leave();
    ring = nullptr;
    rings = nullptr;
  }
};
[[gnu::tls_model("initial-exec")]] constinit thread_local RingHere here;

void end_thread(void* ending) noexcept {
  auto& ring = *static_cast<RingHere*>(ending);
  ring.leave();
  ring.has_ended = true;
}

// As in node_pool.cpp, a key is used rather than a thread_local destructor, which may allocate.
struct ExitKey {
  pthread_key_t key{};
  bool made = pthread_key_create(&key, end_thread) == 0;
};
const ExitKey& exit_key() noexcept {
  static const ExitKey key;
  return key;
}

[[gnu::noinline]] TraceRing* claim_ring(TraceRings& rings) noexcept {
  here.leave();
  const ExitKey& key = exit_key();
  if (here.has_ended || !key.made || pthread_setspecific(key.key, &here) != 0) return nullptr;
  TraceRing* const ring = rings.claim();
  if (ring == nullptr) return nullptr;
  here.ring = ring;
  here.rings = &rings;
  here.counts_cycles = has_constant_rate();
  ring->set_thread(number_of_this_thread(), name_of_this_thread());
  return ring;
}

}  // namespace

TraceTime TraceTime::now() noexcept { return {.count = count_now(), .nanoseconds = steady_now()}; }

void Tracing::record_words(std::uint64_t time, std::uint64_t what, std::uint64_t other,
                           std::uint64_t rest) noexcept {
  TraceRings* const rings = current.load(sync::edge("tracing:use", sync::acquire));
  if (rings == nullptr) return;
  TraceRing* const ring = here.rings == rings ? here.ring : claim_ring(*rings);
  if (ring == nullptr) return rings->count_lost();
  if (time == 0) time = here.counts_cycles ? cycle_count() : steady_now();
  ring->record(time, what, other, rest);
}

TraceRings& Tracing::start(std::size_t events, std::size_t threads) {
  static_cast<void>(exit_key());
  const std::lock_guard lock(traces.mutex);
  // relaxed: the mutex orders starts and stops.
  if (current.load(sync::relaxed) != nullptr) {
    throw NotAllowedError("Trace: another trace of this process runs; stop that one first");
  }
  TraceRings& rings = traces.rings_of_size(events, threads);
  rings.begin();
  current.store(&rings, sync::edge("tracing:start", sync::release));
  runs.store(true, sync::relaxed);  // relaxed: who has seen it looks for the rings.
  traces.tell_watches();
  return rings;
}

/// The caller has the mutex.
void Tracing::end_trace() noexcept {
  // relaxed, both: who has not seen it records one more event, in rings that stay.
  runs.store(false, sync::relaxed);
  current.store(nullptr, sync::relaxed);
  traces.tell_watches();
}

void Tracing::stop() noexcept {
  const std::lock_guard lock(traces.mutex);
  end_trace();
}

TracedEvents Tracing::stop_and_read(const TraceRings& rings) {
  const std::lock_guard lock(traces.mutex);
  end_trace();
  return rings.read();
}

TracedEvents Tracing::read(const TraceRings& rings) {
  const std::lock_guard lock(traces.mutex);
  return rings.read();
}

TraceWatch::TraceWatch(void* subject, void (*changed)(void* subject) noexcept)
    : subject_(subject), changed_(changed) {
  be_told_of_forks();
  const std::lock_guard lock(traces.mutex);
  next_ = traces.watches;
  if (next_ != nullptr) next_->previous_ = this;
  traces.watches = this;
  if (Tracing::is_on()) call();
}

TraceWatch::~TraceWatch() {
  const std::lock_guard lock(traces.mutex);
  (previous_ == nullptr ? traces.watches : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

void TraceWatch::call_again() noexcept {
  const std::lock_guard lock(traces.mutex);
  call();
}

}  // namespace HEIST_NAMESPACE::detail
