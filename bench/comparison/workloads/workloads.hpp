// All workloads; each function adds those of its file, with the subjects that they make sense for.
#pragma once

#include "../registry.hpp"

namespace bench {

void add_post(Registry& registry);
void add_executor(Registry& registry);
void add_pool(Registry& registry);
void add_urgent(Registry& registry);
void add_urgent_polled(Registry& registry);
void add_asio_server(Registry& registry);
void add_inside(Registry& registry);
void add_pingpong(Registry& registry);
void add_schedule(Registry& registry);
void add_scope(Registry& registry);
void add_trees(Registry& registry);
void add_loops(Registry& registry);
void add_timer_throughput(Registry& registry);
void add_timer_late(Registry& registry);
void add_memory(Registry& registry);
void add_set_priority(Registry& registry);
void add_abort_group(Registry& registry);
void add_pick(Registry& registry);
void add_grow(Registry& registry);
void add_yield(Registry& registry);
void add_mutex(Registry& registry);
void add_channel(Registry& registry);
void add_poll(Registry& registry);
void add_any_drop(Registry& registry);
void add_cooperative(Registry& registry);

inline void add_all(Registry& registry) {
  for (const auto add : {add_post,       add_executor,      add_asio_server,  add_pool,
                         add_urgent,     add_urgent_polled, add_inside,       add_scope,
                         add_trees,      add_loops,         add_pingpong,     add_timer_throughput,
                         add_timer_late, add_memory,        add_set_priority, add_abort_group,
                         add_pick,       add_grow,          add_yield,        add_poll,
                         add_any_drop,   add_cooperative,   add_schedule,     add_mutex,
                         add_channel}) {
    add(registry);
  }
}

}  // namespace bench
