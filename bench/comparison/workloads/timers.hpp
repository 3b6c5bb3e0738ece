// The subjects that have timers, behind one interface:
//   post(f)                       runs f on the loop, where all of the following is called
//   reserve(count)                memory for what the user keeps, such as handles
//   arm(delay, f)                 runs f after the delay
//   arm_cancellable(delay, gone)  a timer for cancel(); gone.add(1) once it is cancelled
//   cancel(index)                 cancels the one that was armed as that
//   was_busy()                    where a subject has something to do after a callback took long
//   count_armed()                 how many the subject still held; from the measuring thread, and
//                                 the last call
#pragma once

#include "../../subjects/timers/asio_timers.hpp"
#include "../../subjects/timers/heist_timers.hpp"
#include "../../subjects/timers/libevent_timers.hpp"
#include "../../subjects/timers/libuv_timers.hpp"
#include "../../subjects/timers/raw_wheel.hpp"
#include "subjects.hpp"

namespace bench {

using TimerSubjects =
    SubjectList<HeistTimers, HeistDelayedTasks, AsioTimers, UvTimers, EventTimers, RawWheel>;

}  // namespace bench
