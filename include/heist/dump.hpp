// dump: a text for people that says what agents do, and what waits.
#pragma once

#include <heist/agent_cluster.hpp>
#include <heist/detail/export.hpp>
#include <heist/event_loop.hpp>
#include <heist/version.hpp>
#include <string>

namespace HEIST_NAMESPACE {

/// What each agent runs (the label of the task, and for how long) or that it runs nothing, what
/// waits at each level and since when, what is bound to an agent, and the queues of signals in a
/// cluster, the longest first.
///
/// It is for people: the form of the text may change. Metrics say the same to programs. A debugger
/// may call it, too, if that lets the other threads go on meanwhile.
///
/// Thread: any, also within a task.   Blocks: while another thread counts in the same cluster.
/// Errors: std::bad_alloc.   Cost: as metrics().
[[nodiscard]] HEIST_EXPORT std::string dump(const AgentCluster& cluster);
[[nodiscard]] HEIST_EXPORT std::string dump(const EventLoop& loop);

}  // namespace HEIST_NAMESPACE
