// Declares the public handles for the headers in detail/, which the headers of the handles include.
#pragma once

#include <heist/detail/export.hpp>
#include <heist/version.hpp>
namespace HEIST_NAMESPACE {

class AbortSignal;
class Agent;
class CooperativeCallback;
class EventLoop;
template <class T = void>
class Forkable;
template <class T>
class Forked;
template <class T>
class Promise;
class Room;
class Scheduler;
class TaskSignal;
class Timeout;

}  // namespace HEIST_NAMESPACE

namespace HEIST_NAMESPACE::detail {

struct Access;
struct CloseCall;
class ClusterCore;
class CooperativeCore;
class CooperativeTaskNode;
class LentPriority;
class Listener;
class LoopCore;
class Member;
class PostBound;
template <class T>
class ForkablePromise;
template <class T>
class PromiseState;
class ReasonBox;
class ReasonList;
template <class T>
class Ref;
struct SchedulerCore;
class SignalCore;
class TaskHome;

HEIST_EXPORT void retain(ClusterCore& core) noexcept;
HEIST_EXPORT void release(ClusterCore& core) noexcept;
HEIST_EXPORT void retain(CooperativeCore& core) noexcept;
HEIST_EXPORT void release(CooperativeCore& core) noexcept;
HEIST_EXPORT void retain(CooperativeTaskNode& task) noexcept;
HEIST_EXPORT void release(CooperativeTaskNode& task) noexcept;
HEIST_EXPORT void retain(LentPriority& lent) noexcept;
HEIST_EXPORT void release(LentPriority& lent) noexcept;
HEIST_EXPORT void retain(Listener& listener) noexcept;
HEIST_EXPORT void release(Listener& listener) noexcept;
HEIST_EXPORT void retain(LoopCore& core) noexcept;
HEIST_EXPORT void release(LoopCore& core) noexcept;
HEIST_EXPORT void retain(PostBound& bound) noexcept;
HEIST_EXPORT void release(PostBound& bound) noexcept;
HEIST_EXPORT void retain(ReasonBox& box) noexcept;
HEIST_EXPORT void release(ReasonBox& box) noexcept;
HEIST_EXPORT void retain(ReasonList& list) noexcept;
HEIST_EXPORT void release(ReasonList& list) noexcept;
HEIST_EXPORT void retain(SignalCore& core) noexcept;
HEIST_EXPORT void release(SignalCore& core) noexcept;
HEIST_EXPORT void retain(TaskHome& home) noexcept;
HEIST_EXPORT void release(TaskHome& home) noexcept;

}  // namespace HEIST_NAMESPACE::detail
