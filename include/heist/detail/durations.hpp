// std::chrono's durations and clocks, for headers that need no more of it.
#pragma once

// Since C++20 <chrono> has calendars, time zones and their formatting, and includes all of
// <sstream>. That was a sixth of the time to compile <heist/scheduler.hpp>. <semaphore> has
// durations and time points in its interface, so it includes the part that is needed here;
// <stop_token> includes it anyway.
#include <semaphore>
