// pool2: one thread posts tasks to a pool of two workers, until the last has run. /empty, /40B:
// fire and forget, with captures of that size. /promise: each result is kept and then fetched by
// the poster.
#include <cstddef>
#include <string>

#include "../../pool_completion.hpp"
#include "../../subjects/heist_pool.hpp"
#include "../../subjects/moodycamel.hpp"
#include "batch.hpp"
#include "promises.hpp"
#include "subjects.hpp"
#include "workloads.hpp"

namespace bench {

namespace {

template <class Pool, std::size_t bytes>
void post_to_pool(Run& run) {
  const auto count = run.scaled(posted_batch);
  Pool pool;
  warm_up_and_measure(run, [&](bool measured) {
    auto done = completion_of<bytes, PoolCompletion>(count);
    if (measured) run.start();
    for (std::int64_t i = 0; i < count; ++i) pool.post(make_payload<bytes>(done, i));
    done.wait();
    if (measured) run.stop(count, done.ended());
  });
}

template <std::size_t bytes>
void add_pool_posts(Registry& registry, const std::string& workload) {
  using Pools = SubjectList<HeistPool<2>, AsioPool<2>, TbbArena<2>, Moodycamel<2>, MutexDeque<2>>;
  add_for(Pools(), registry, {.workload = workload, .subject = {}, .unit = "ns", .measure = {}},
          []<class Pool>(Run& run) { post_to_pool<Pool, bytes>(run); });
}

void add_pool_promises(Registry& registry) {
  using Pools = SubjectList<HeistPromises<HeistPool<2>>, AsioPromises<AsioPool<2>>,
                            AsioPackagedPromises<AsioPool<2>>, TbbPromises<TbbArena<2>>,
                            PackagedPromises<Moodycamel<2>>, PackagedPromises<MutexDeque<2>>>;
  add_for(Pools(), registry,
          {.workload = "pool2/promise", .subject = {}, .unit = "ns", .measure = {}},
          []<class Pool>(Run& run) { post_promises<Pool>(run, 1); });
}

}  // namespace

void add_pool(Registry& registry) {
  add_pool_posts<8>(registry, "pool2/empty");
  add_pool_posts<40>(registry, "pool2/40B");
  add_pool_promises(registry);
}

}  // namespace bench
