// Promise<T>: shared handle to a value, an error or an abort reason to come; coroutines return it.
#pragma once

#include <heist/detail/coroutine.hpp>
#include <heist/promise_handle.hpp>
#include <heist/detail/promise_then.hpp>
