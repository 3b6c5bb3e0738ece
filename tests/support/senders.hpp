// A stand-in for a library of senders: as much of [exec] as the tests of heist/execution.hpp use,
// under the names of C++26. The option HEIST_STDEXEC_DIR runs the same tests with stdexec.
#pragma once

#include "senders/adaptors.hpp"
#include "senders/bulk.hpp"
#include "senders/connect.hpp"
#include "senders/parallel_scheduler.hpp"
#include "senders/sync_wait.hpp"
#include "senders/vocabulary.hpp"
