// Which library of senders the headers of heist/execution use: that of HEIST_EXECUTION_NAMESPACE,
// which the program includes before them; else the standard one; else stdexec. With
// HEIST_EXECUTION_OLD_NAMES it is one that has `sender_t` where C++26 has `sender_tag`.
#pragma once

#include <heist/version.hpp>
#include <version>

#if defined(HEIST_EXECUTION_NAMESPACE)
#elif defined(__cpp_lib_senders)
#include <execution>
#include <stop_token>
#define HEIST_EXECUTION_NAMESPACE std::execution
#define HEIST_EXECUTION_QUERY_NAMESPACE std
#elif __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#define HEIST_EXECUTION_NAMESPACE stdexec
#if !__has_include(<stdexec/__detail/__epilogue.hpp>)
#define HEIST_EXECUTION_OLD_NAMES  // of a version before C++26 had its last changes
#endif
#else
#error \
    "heist/execution.hpp needs senders: std::execution, stdexec, or the library whose namespace \
HEIST_EXECUTION_NAMESPACE names and whose header is included before"
#endif

#if !defined(HEIST_EXECUTION_QUERY_NAMESPACE)
#define HEIST_EXECUTION_QUERY_NAMESPACE HEIST_EXECUTION_NAMESPACE
#endif

namespace HEIST_NAMESPACE::execution {

namespace ex = ::HEIST_EXECUTION_NAMESPACE;
/// Where queries of environments and stop tokens are, which the standard has in std itself.
namespace exq = ::HEIST_EXECUTION_QUERY_NAMESPACE;

#if defined(HEIST_EXECUTION_OLD_NAMES)
using SenderTag = ex::sender_t;
using ReceiverTag = ex::receiver_t;
using SchedulerTag = ex::scheduler_t;
using OperationStateTag = ex::operation_state_t;
#else
using SenderTag = ex::sender_tag;
using ReceiverTag = ex::receiver_tag;
using SchedulerTag = ex::scheduler_tag;
using OperationStateTag = ex::operation_state_tag;
#endif

}  // namespace HEIST_NAMESPACE::execution
