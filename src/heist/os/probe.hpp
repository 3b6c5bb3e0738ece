// HEIST_PROBE: a place in the code that tools such as bpftrace and perf can watch in a running
// program (USDT), where the build has HEIST_USDT.
#pragma once

#ifdef HEIST_USDT
#define SDT_USE_VARIADIC
#include <sys/sdt.h>
/// HEIST_PROBE(name, arguments...): one instruction that does nothing, until a tool replaces it.
#define HEIST_PROBE(...) STAP_PROBEV(heist, __VA_ARGS__)
#else
#define HEIST_PROBE(...) static_cast<void>(0)
#endif
