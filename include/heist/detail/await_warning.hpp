// The warning of a co_await that g++ up to version 12 may compile to a double destruction
// (docs/adr/0026).
#pragma once

// Aggregates and lambdas with captures that are made within a co_await expression are destroyed
// twice: bug 99576 and its like of g++, mended in version 13. Those temporaries cannot be seen from
// here. What can be seen is that the promise has no name, so that the call which gave it, with its
// arguments, stands in the expression.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13 && !defined(HEIST_NO_AWAIT_WARNING)
#define HEIST_WARNS_AWAIT_OF_UNNAMED                                                             \
  [[deprecated(                                                                                  \
      "g++ up to 12 destroys lambdas with captures and aggregates twice that are made within a " \
      "co_await expression: give the promise a name first, as in "                               \
      "`auto promise = scheduler.post_task(...); co_await promise;`. "                           \
      "For `co_await std::move(promise)` write `co_await promise.taken()`. "                     \
      "The macro HEIST_NO_AWAIT_WARNING turns this warning off.")]]
#else
#define HEIST_WARNS_AWAIT_OF_UNNAMED
#endif
