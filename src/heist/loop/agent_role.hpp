// The role "I am this loop's agent", for clang's -Wthread-safety.
#pragma once

#include <heist/version.hpp>
#if defined(__clang__)
#define HEIST_TSA(x) __attribute__((x))
#else
#define HEIST_TSA(x)
#endif

namespace HEIST_NAMESPACE::detail {

/// Capability held by the thread that drives a loop. It has no state: the compiler checks it, and
/// LoopCore::on_agent() asserts it.
class HEIST_TSA(capability("role")) AgentRole {};

inline AgentRole agent_role;

}  // namespace HEIST_NAMESPACE::detail

/// Stands on functions and data that belong to the agent.
#define HEIST_ON_AGENT HEIST_TSA(requires_capability(::heist::detail::agent_role))
/// Stands on functions that check at run time that the caller is the agent.
#define HEIST_ASSERTS_AGENT HEIST_TSA(assert_capability(::heist::detail::agent_role))
