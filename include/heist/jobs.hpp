// A job server with kinds of jobs of one's own.
#pragma once

#include <heist/jobs/failure.hpp>
#include <heist/jobs/job.hpp>
#include <heist/jobs/parameter.hpp>
#include <heist/jobs/result.hpp>
#include <heist/jobs/server.hpp>
