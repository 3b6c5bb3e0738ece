// Every public header but <heist/parallel.hpp>, whose users link heist::parallel besides.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/agent.hpp>
#include <heist/agent_cluster.hpp>
#include <heist/bounded_scheduler.hpp>
#include <heist/combinators.hpp>
#include <heist/cooperative_callback.hpp>
#include <heist/cooperative_host.hpp>
#include <heist/cooperative_scheduler.hpp>
#include <heist/delay.hpp>
#include <heist/error.hpp>
#include <heist/event_loop.hpp>
#include <heist/fork.hpp>
#include <heist/priority.hpp>
#include <heist/promise.hpp>
#include <heist/scheduler.hpp>
#include <heist/task_scope.hpp>
#include <heist/task_signal.hpp>
#include <heist/task_source.hpp>
#include <heist/timeout.hpp>
#include <heist/topology.hpp>
#include <heist/version.hpp>
#include <heist/yield.hpp>
#include <heist/yield_if_urgent.hpp>
