// The public handles, for what they are made of: headers in detail/ come before theirs.
#pragma once

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
class Listener;
class LoopCore;
class Member;
class PostBound;
template <class T>
class ForkablePromise;
template <class T>
class PromiseState;
class ReasonBox;
template <class T>
class Ref;
struct SchedulerCore;
class SignalCore;
class TaskHome;

void retain(ClusterCore& core) noexcept;
void release(ClusterCore& core) noexcept;
void retain(CooperativeCore& core) noexcept;
void release(CooperativeCore& core) noexcept;
void retain(CooperativeTaskNode& task) noexcept;
void release(CooperativeTaskNode& task) noexcept;
void retain(Listener& listener) noexcept;
void release(Listener& listener) noexcept;
void retain(LoopCore& core) noexcept;
void release(LoopCore& core) noexcept;
void retain(PostBound& bound) noexcept;
void release(PostBound& bound) noexcept;
void retain(ReasonBox& box) noexcept;
void release(ReasonBox& box) noexcept;
void retain(SignalCore& core) noexcept;
void release(SignalCore& core) noexcept;
void retain(TaskHome& home) noexcept;
void release(TaskHome& home) noexcept;

}  // namespace HEIST_NAMESPACE::detail
