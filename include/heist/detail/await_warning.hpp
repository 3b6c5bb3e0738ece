// This file makes g++ up to version 12 warn about each co_await that it may compile to a double
// destruction (docs/adr/0026).
#pragma once

// These versions destroy aggregates and lambdas with captures twice if they are made within a
// co_await expression (bug 99576 of g++ and similar ones, mended in version 13). This header cannot
// see such temporaries. It can see that the promise has no name: the call that returned the promise
// then stands in the expression, with its arguments.
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
