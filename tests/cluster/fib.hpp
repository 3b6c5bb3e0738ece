// fib: a tree of forked calls whose result tells whether one was lost.
#pragma once

#include <heist/heist.hpp>

namespace heist::test {

inline Forkable<int> fib(int n) {
  if (n < 2) co_return n;
  const int before = n - 1;
  Forked<int> a = co_await fork(fib(before));
  const int b = co_await fib(n - 2);
  co_await join();
  co_return a.value() + b;
}

}  // namespace heist::test
