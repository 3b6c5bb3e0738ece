// Question: through which structure, and with whose memory, does a posted task reach its agent?
//
// Whole path of a fire-and-forget task with 40 bytes of payload: allocate, construct, publish,
// bring into an order that respects real time, pick, run, release. One consumer; posts come from 1,
// 2, 4, 8 threads, or (chain) each from the task before it.
//   list    a CAS-pushed list of nodes, taken whole by an exchange and reversed; numbered by the
//   agent queue   an atomic counter, then a node pointer through moodycamel::ConcurrentQueue,
//   drained in one
//           pass; only tasks older than the counter's value before the pass are picked
//   slots   as queue, the task itself inside the queue's element: no memory of its own
// Each pick looks for news first, as an event loop must. Waking is left out on purpose: the
// consumer spins (and yields its core after a while, since producers may outnumber cores).
//
// Rounds go through all cases in turn, so that drift of the machine hits each alike; the table has
// medians in ns a task. Counts and checksums are checked in every run, and before anything is timed
// each option proves its order against the real time of the posts.
#include <oneapi/tbb/scalable_allocator.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <heist/detail/sync.hpp>
#include <iterator>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "heist/concurrent/moodycamel.hpp"
#include "heist/memory/node_pool.hpp"
#include "heist/os/parker.hpp"

namespace {

using namespace heist;
using namespace heist::detail;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::abort();
}

// --- tasks ---

struct Payload {
  std::uint64_t producer = 0;
  std::uint64_t number = 0;
  std::array<std::uint64_t, 3> rest{};
};
static_assert(sizeof(Payload) == 40);

Payload payload_of(std::uint64_t producer, std::uint64_t number) {
  return {producer, number, {number ^ 1, number ^ 2, producer + number}};
}

std::uint64_t digest(const Payload& payload) {
  return payload.number + (payload.rest[0] ^ payload.rest[1]) + payload.rest[2];
}

/// What running the tasks leaves behind.
struct Tally {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t last_order = 0;
  bool orders_rise = true;
  std::vector<Payload>* trace = nullptr;  // only while the order is proved
};

void run_payload(const Payload& payload, Tally& tally) {
  ++tally.count;
  tally.sum += digest(payload);
  if (tally.trace != nullptr) tally.trace->push_back(payload);
}

using Run = void (*)(const Payload&, Tally&);

struct Node {
  Node* next = nullptr;
  std::uint64_t order = 0;
  Run run = nullptr;
  Payload payload;
};
static_assert(sizeof(Node) == 64);

// --- memory ---

struct Glibc {
  static constexpr std::string_view name = "glibc malloc";
  static void* allocate() { return std::malloc(sizeof(Node)); }
  static void release(void* node) { std::free(node); }
};

struct OneTbb {
  static constexpr std::string_view name = "oneTBB malloc";
  static void* allocate() { return scalable_aligned_malloc(sizeof(Node), 64); }
  static void release(void* node) { scalable_aligned_free(node); }
};

struct Pool {
  static constexpr std::string_view name = "node pool";
  static void* allocate() { return allocate_node(sizeof(Node)); }
  static void release(void* node) { release_node(node, sizeof(Node)); }
};

template <class Memory>
Node* make_node(const Payload& payload) {
  void* const memory = Memory::allocate();
  check(memory != nullptr, "out of memory");
  return new (memory) Node{.run = run_payload, .payload = payload};
}

// --- list ---

template <class Memory>
class ListLoop {
 public:
  static constexpr std::string_view name = "list";
  static constexpr std::string_view memory = Memory::name;

  void post(const Payload& payload) {
    Node* const node = make_node<Memory>(payload);
    Node* newest = head_.load(sync::relaxed);  // relaxed: the CAS re-checks
    do {
      node->next = newest;
    } while (!head_.compare_exchange_weak(newest, node,
                                          sync::edge("bench_list:post", sync::release),
                                          sync::relaxed));  // relaxed: a failure only retries
  }

  void post_local(const Payload& payload) {
    drain();
    append(*make_node<Memory>(payload));
  }

  bool run_one(Tally& tally) {
    drain();
    Node* const node = first_;
    if (node == nullptr) return false;
    first_ = node->next;
    if (first_ == nullptr) last_ = nullptr;
    tally.orders_rise &= node->order > tally.last_order;
    tally.last_order = node->order;
    node->run(node->payload, tally);
    Memory::release(node);
    return true;
  }

 private:
  void drain() {
    if (head_.load(sync::relaxed) == nullptr) return;  // relaxed: the exchange observes
    Node* newest = head_.exchange(nullptr, sync::edge("bench_list:drain", sync::acquire));
    Node* oldest = nullptr;
    while (newest != nullptr) {
      Node* const below = std::exchange(newest->next, oldest);
      oldest = std::exchange(newest, below);
    }
    while (oldest != nullptr) append(*std::exchange(oldest, oldest->next));
  }

  void append(Node& node) {
    node.order = next_order_++;
    node.next = nullptr;
    (last_ == nullptr ? first_ : last_->next) = &node;
    last_ = &node;
  }

  alignas(64) sync::atomic<Node*> head_{nullptr};
  alignas(64) Node* first_ = nullptr;
  Node* last_ = nullptr;
  std::uint64_t next_order_ = 1;
};

// --- queue and slots ---

/// An element of the queue: a node's address, or the task itself.
template <class Memory>
struct NodeElement {
  static constexpr std::string_view name = "queue";
  static constexpr std::string_view memory = Memory::name;

  std::uint64_t order = 0;
  Node* node = nullptr;

  NodeElement() = default;
  explicit NodeElement(const Payload& payload) : node(make_node<Memory>(payload)) {}
  void prefetch() const { __builtin_prefetch(node, 1); }
  void run(Tally& tally) const {
    node->run(node->payload, tally);
    Memory::release(node);
  }
};

struct SlotElement {
  static constexpr std::string_view name = "slots";
  static constexpr std::string_view memory = "none";

  std::uint64_t order = 0;
  Run run_task = nullptr;
  Payload payload;

  SlotElement() = default;
  explicit SlotElement(const Payload& task) : run_task(run_payload), payload(task) {}
  void prefetch() const {}
  void run(Tally& tally) const { run_task(payload, tally); }
};

constexpr auto older = [](const auto& a, const auto& b) { return a.order < b.order; };

/// Brings what one pass took from the queue, an ascending run from each producer, into order.
template <class Element>
class RunMerger {
 public:
  void sort(std::vector<Element>& elements) {
    if (std::ranges::is_sorted(elements, older)) return;
    find_runs(elements);
    while (ends_.size() > 1) {
      std::size_t kept = 0;
      std::ptrdiff_t start = 0;
      for (std::size_t i = 0; i < ends_.size(); i += 2) {
        const std::ptrdiff_t end = ends_[std::min(i + 1, ends_.size() - 1)];
        merge(elements, start, ends_[i], end);
        start = ends_[kept++] = end;
      }
      ends_.resize(kept);
    }
  }

  /// Merges [first, middle) with [middle, end) of `elements`.
  void merge(std::vector<Element>& elements, std::ptrdiff_t first, std::ptrdiff_t middle,
             std::ptrdiff_t end) {
    const auto at = elements.begin();
    scratch_.clear();
    std::merge(at + first, at + middle, at + middle, at + end, std::back_inserter(scratch_), older);
    std::ranges::copy(scratch_, at + first);
  }

 private:
  void find_runs(std::vector<Element>& elements) {
    ends_.clear();
    for (auto at = elements.begin(); at != elements.end();) {
      at = std::is_sorted_until(at, elements.end(), older);
      ends_.push_back(at - elements.begin());
    }
  }

  std::vector<std::ptrdiff_t> ends_;
  std::vector<Element> scratch_;
};

template <class Element>
class QueueLoop {
 public:
  static constexpr std::string_view name = Element::name;
  static constexpr std::string_view memory = Element::memory;

  void post(const Payload& payload) {
    Element element(payload);
    element.order = next_order_.fetch_add(1, sync::edge("bench_queue:order", sync::acq_rel));
    check(queue_.enqueue(element), "out of memory");
  }

  void post_local(const Payload& payload) {
    Element element(payload);
    element.order = next_order_.fetch_add(1, sync::edge("bench_queue:order", sync::acq_rel));
    ++seen_;
    merge_from(ready_.insert(ready_.end(), element));
  }

  bool run_one(Tally& tally) {
    drain();
    // Those not older than the counter's value wait for a pick that began after them.
    if (at_ == ready_.size() || ready_[at_].order >= limit_) return false;
    const Element element = ready_[at_++];
    if (at_ + ahead < ready_.size()) ready_[at_ + ahead].prefetch();
    if (at_ == ready_.size()) ready_.clear(), at_ = 0;
    tally.orders_rise &= element.order > tally.last_order;
    tally.last_order = element.order;
    element.run(tally);
    return true;
  }

 private:
  static constexpr std::size_t ahead = 4;

  void drain() {
    limit_ = next_order_.load(sync::edge("bench_queue:limit", sync::acquire));
    if (limit_ == seen_ + 1) return;  // all numbers given so far are in ready_ or behind it
    fresh_.clear();
    seen_ += queue_.try_dequeue_bulk(std::back_inserter(fresh_), everything);
    merger_.sort(fresh_);
    merge_from(ready_.insert(ready_.end(), fresh_.begin(), fresh_.end()));
  }

  // Both [at_, middle) and [middle, end) are sorted already.
  void merge_from(typename std::vector<Element>::iterator middle) {
    const auto first = ready_.begin() + static_cast<std::ptrdiff_t>(at_);
    if (first == middle || middle == ready_.end() || older(*(middle - 1), *middle)) return;
    const auto overlap = std::upper_bound(first, middle, *middle, older);
    merger_.merge(ready_, overlap - ready_.begin(), middle - ready_.begin(), std::ssize(ready_));
  }

  static constexpr std::size_t everything = std::size_t{1} << 40;

  alignas(64) sync::atomic<std::uint64_t> next_order_{1};
  alignas(64) std::uint64_t seen_ = 0;
  std::uint64_t limit_ = 1;
  std::size_t at_ = 0;
  std::vector<Element> ready_;
  std::vector<Element> fresh_;
  RunMerger<Element> merger_;
  moodycamel::ConcurrentQueue<Element> queue_{32 * 4096};
};

// --- one run ---

void relax(std::uint32_t& idle_turns) {
  if (++idle_turns % 256 == 0) {
    std::this_thread::yield();
  } else {
    spin_pause();
  }
}

template <class Loop>
void consume(Loop& loop, Tally& tally, std::uint64_t tasks) {
  std::uint32_t idle_turns = 0;
  while (tally.count < tasks) {
    if (!loop.run_one(tally)) relax(idle_turns);
  }
}

void check_tally(const Tally& tally, std::uint64_t producers, std::uint64_t each) {
  std::uint64_t sum = 0;
  for (std::uint64_t p = 0; p < producers; ++p) {
    for (std::uint64_t n = 0; n < each; ++n) sum += digest(payload_of(p, n));
  }
  check(tally.count == producers * each, "wrong number of tasks ran");
  check(tally.sum == sum, "a payload arrived damaged");
}

using Clock = std::chrono::steady_clock;

double nanoseconds_each(Clock::duration duration, std::uint64_t tasks) {
  return std::chrono::duration<double, std::nano>(duration).count() / static_cast<double>(tasks);
}

template <class Loop>
double time_posts(std::uint64_t producers, std::uint64_t tasks) {
  Loop loop;
  Tally tally;
  const std::uint64_t each = tasks / producers;
  sync::atomic<std::uint64_t> waiting{0};
  sync::atomic<bool> start{false};
  std::vector<std::jthread> threads;
  for (std::uint64_t p = 0; p < producers; ++p) {
    threads.emplace_back([&, p] {
      waiting.fetch_add(1, sync::edge("bench:ready", sync::release));
      start.wait(false, sync::edge("bench:start_seen", sync::acquire));
      for (std::uint64_t n = 0; n < each; ++n) loop.post(payload_of(p, n));
    });
  }
  while (waiting.load(sync::edge("bench:ready_seen", sync::acquire)) < producers) {
    std::this_thread::yield();
  }
  const auto begin = Clock::now();
  start.store(true, sync::edge("bench:start", sync::release));
  start.notify_all();
  consume(loop, tally, producers * each);
  const auto end = Clock::now();
  check_tally(tally, producers, each);
  return nanoseconds_each(end - begin, producers * each);
}

template <class Loop>
double time_chain(std::uint64_t tasks) {
  Loop loop;
  Tally tally;
  const auto begin = Clock::now();
  loop.post_local(payload_of(0, 0));
  for (std::uint64_t n = 1; loop.run_one(tally); ++n) {
    if (n < tasks) loop.post_local(payload_of(0, n));
  }
  const auto end = Clock::now();
  check_tally(tally, 1, tasks);
  return nanoseconds_each(end - begin, tasks);
}

template <class Loop>
double time_fan_out(std::uint64_t tasks) {
  Loop loop;
  Tally tally;
  const auto begin = Clock::now();
  for (std::uint64_t n = 0; n < tasks; ++n) loop.post_local(payload_of(0, n));
  while (loop.run_one(tally)) continue;
  const auto end = Clock::now();
  check_tally(tally, 1, tasks);
  return nanoseconds_each(end - begin, tasks);
}

// --- order ---

/// When a post began and when it had returned, on one clock of all threads.
struct Span {
  std::uint64_t began = 0;
  std::uint64_t returned = 0;
};

/// Runs tasks of 4 producers and checks that none ran before one whose post had returned before its
/// own post began; `numbers_too`: and that the order numbers rise in that order.
template <class Loop>
void prove_order(bool numbers_too) {
  constexpr std::uint64_t producers = 4;
  constexpr std::uint64_t each = 20'000;
  Loop loop;
  std::vector<Payload> trace;
  Tally tally{.trace = &trace};
  sync::atomic<std::uint64_t> clock{1};
  std::vector<std::vector<Span>> spans(producers, std::vector<Span>(each));
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t p = 0; p < producers; ++p) {
      threads.emplace_back([&, p] {
        for (std::uint64_t n = 0; n < each; ++n) {
          // seq_cst: one order of all ticks
          spans[p][n].began = clock.fetch_add(1, sync::edge("bench:tick", sync::seq_cst));
          loop.post(payload_of(p, n));
          spans[p][n].returned = clock.fetch_add(1, sync::edge("bench:tick", sync::seq_cst));
        }
      });
    }
    consume(loop, tally, producers * each);
  }
  std::uint64_t latest_began = 0;
  std::uint64_t overlaps = 0;
  for (const Payload& payload : trace) {
    const Span& span = spans[payload.producer][payload.number];
    check(span.returned > latest_began, "a task ran before one that was posted earlier");
    overlaps += span.began < latest_began ? 1 : 0;
    latest_began = std::max(latest_began, span.began);
  }
  check(!numbers_too || tally.orders_rise, "order numbers differ from the order of publication");
  std::printf("%s, %s: %zu tasks in real-time order, %llu against the order of their calls%s\n",
              std::string(Loop::name).c_str(), std::string(Loop::memory).c_str(), trace.size(),
              static_cast<unsigned long long>(overlaps), numbers_too ? "; order numbers rise" : "");
}

// --- table ---

constexpr std::array<std::uint64_t, 4> producer_counts{1, 2, 4, 8};
constexpr std::size_t columns = producer_counts.size() + 2;  // and chain, fan-out

struct Row {
  std::string_view option;
  std::string_view memory;
  std::array<std::function<double(std::uint64_t)>, columns> cases;
  std::array<std::vector<double>, columns> samples;
};

template <class Loop>
Row row() {
  Row row{.option = Loop::name, .memory = Loop::memory, .cases = {}, .samples = {}};
  for (std::size_t i = 0; i < producer_counts.size(); ++i) {
    row.cases[i] = [i](std::uint64_t tasks) { return time_posts<Loop>(producer_counts[i], tasks); };
  }
  row.cases[columns - 2] = time_chain<Loop>;
  row.cases[columns - 1] = time_fan_out<Loop>;
  return row;
}

double median(std::vector<double> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::ranges::nth_element(samples, middle);
  return *middle;
}

void print(std::span<const Row> rows) {
  std::printf(
      "\n| inbox | memory | 1 producer | 2 | 4 | 8 | chain | fan-out "
      "|\n|---|---|---|---|---|---|---|---|\n");
  for (const Row& row : rows) {
    std::printf("| %s | %s |", std::string(row.option).c_str(), std::string(row.memory).c_str());
    for (const std::vector<double>& samples : row.samples) std::printf(" %.1f |", median(samples));
    std::printf("\n");
  }
}

struct Options {
  std::uint64_t rounds = 9;
  std::uint64_t tasks = 400'000;
};

// `--benchmark_min_time=0`, which ctest gives to all programs here, asks for a mere check.
Options parse(std::span<char*> arguments) {
  Options options;
  for (std::string_view argument : arguments.subspan(1)) {
    const std::string value(argument.substr(std::min(argument.find('=') + 1, argument.size())));
    if (argument.starts_with("--rounds=")) {
      options.rounds = std::stoull(value);
    } else if (argument.starts_with("--tasks=")) {
      options.tasks = std::stoull(value);
    } else if (argument == "--benchmark_min_time=0") {
      options = {.rounds = 1, .tasks = 8'000};
    } else {
      check(false, "usage: inbox_options_bench [--rounds=N] [--tasks=N]");
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
#if !defined(__OPTIMIZE__) || defined(HEIST_SANITIZER_THREAD) || defined(HEIST_SANITIZER_ADDRESS)
  std::printf("WARNING: not an optimised build, the figures mean nothing\n");
#endif
  const Options options = parse({argv, static_cast<std::size_t>(argc)});
  prove_order<ListLoop<Pool>>(true);
  prove_order<QueueLoop<NodeElement<Pool>>>(false);
  prove_order<QueueLoop<SlotElement>>(false);
  std::vector<Row> rows;
  rows.push_back(row<ListLoop<Glibc>>());
  rows.push_back(row<ListLoop<OneTbb>>());
  rows.push_back(row<ListLoop<Pool>>());
  rows.push_back(row<QueueLoop<NodeElement<Glibc>>>());
  rows.push_back(row<QueueLoop<NodeElement<OneTbb>>>());
  rows.push_back(row<QueueLoop<NodeElement<Pool>>>());
  rows.push_back(row<QueueLoop<SlotElement>>());
  for (std::uint64_t round = 0; round <= options.rounds; ++round) {
    for (Row& row : rows) {
      for (std::size_t i = 0; i < columns; ++i) {
        const double figure = row.cases[i](options.tasks);
        if (round != 0) row.samples[i].push_back(figure);  // round 0 warms the allocators
      }
    }
  }
  print(rows);
  std::printf("\nns a task, medians of %llu interleaved rounds of %llu tasks, %u cores, %s\n",
              static_cast<unsigned long long>(options.rounds),
              static_cast<unsigned long long>(options.tasks), std::thread::hardware_concurrency(),
              __VERSION__);
}
