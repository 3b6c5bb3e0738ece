// std::chrono's durations and clocks, for headers that need no more of it.
#pragma once

// Since C++20 <chrono> has calendars, time zones and their formatting, and brings all of <sstream>:
// a sixth of what <heist/scheduler.hpp> took to compile. <semaphore>, which <stop_token> needs
// anyway, takes durations and time points in its interface, and so has the rest.
#include <semaphore>
