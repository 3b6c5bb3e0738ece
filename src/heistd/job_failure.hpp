// JobFailure: why a job could not be done.
#pragma once

#include <heist/jobs/failure.hpp>

namespace heistd {

using JobFailure = heist::jobs::Failure;

}  // namespace heistd
