// Handlers of Asio at priorities: executors, tokens and signals for Boost.Asio, or for standalone
// Asio if HEIST_ASIO_STANDALONE is defined.
#pragma once

#include <heist/asio/agent_contexts.hpp>
#include <heist/asio/async_wait.hpp>
#include <heist/asio/bind_abort_signal.hpp>
#include <heist/asio/executor.hpp>
#include <heist/asio/loop_host.hpp>
#include <heist/asio/properties.hpp>
#include <heist/asio/task_context.hpp>
#include <heist/asio/use_promise.hpp>
