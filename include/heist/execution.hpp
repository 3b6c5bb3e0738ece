// Senders and receivers (std::execution, or stdexec) that run as tasks at priorities. It needs the
// headers of such a library, and the target heist::execution.
#pragma once

#include <heist/execution/as_sender.hpp>
#include <heist/execution/await_sender.hpp>
#include <heist/execution/queries.hpp>
#include <heist/execution/quiet_stop_token.hpp>
#include <heist/execution/schedule_sender.hpp>
#include <heist/execution/task_scheduler.hpp>
#include <heist/execution/to_promise.hpp>
