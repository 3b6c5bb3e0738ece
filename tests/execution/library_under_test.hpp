// Which library of senders the tests use: the stand-in, or stdexec with HEIST_STDEXEC_DIR.
#pragma once

#ifndef HEIST_TESTS_USE_STDEXEC
#include "support/senders.hpp"
#define HEIST_EXECUTION_NAMESPACE heist::support::senders
#endif

#include <heist/execution.hpp>
