// Everything public.
#pragma once

#include <heist/abort_signal.hpp>
#include <heist/agent.hpp>
#include <heist/agent_cluster.hpp>
#include <heist/bounded_scheduler.hpp>
#include <heist/close.hpp>
#include <heist/delay.hpp>
#include <heist/error.hpp>
#include <heist/event_loop.hpp>
#include <heist/fork.hpp>
#include <heist/microtask.hpp>
#include <heist/priority.hpp>
#include <heist/promise.hpp>
#include <heist/race.hpp>
#include <heist/reason.hpp>
#include <heist/resume_on.hpp>
#include <heist/scheduler.hpp>
#include <heist/sleep_for.hpp>
#include <heist/subscription.hpp>
#include <heist/task_signal.hpp>
#include <heist/task_source.hpp>
#include <heist/timeout.hpp>
#include <heist/when_all.hpp>
#include <heist/when_any.hpp>
#include <heist/yield.hpp>
