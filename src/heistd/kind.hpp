// Kind: a kind of job.
#pragma once

#include <cstddef>
#include <functional>
#include <heist/task_label.hpp>
#include <heistd/commands/command_failures.hpp>
#include <heistd/job_work.hpp>
#include <heistd/parameter.hpp>
#include <memory>
#include <string>
#include <vector>

namespace heistd {

/// What the server knows of a kind of job. It knows none by name: all of them stand in a KindTable.
struct Kind {
  std::string name;        ///< of its path, `/jobs/NAME`
  heist::TaskLabel label;  ///< what traces and dumps call its jobs
  std::vector<Parameter> parameters;
  /// Besides these: any texts, whose names are letters, digits and '_'.
  bool takes_any_parameter = false;
  /// Of all kinds that have such a number, which are programs, so many jobs can do something at a
  /// time, and further ones would only wait. Zero: any number.
  std::size_t at_a_time = 0;
  /// Of the programs that do its jobs; null: none do.
  std::shared_ptr<const CommandFailures> failures = nullptr;

  /// What a job keeps between two of its chunks, beyond the size of its body (whose blocks make
  /// room for the result as they go).
  std::function<std::size_t(std::size_t body_bytes)> working_bytes;

  /// The work of one job. The parameters are there and of their types, but a check of theirs may
  /// not have been made.   Thread: any.   Errors: std::bad_alloc.
  std::function<std::unique_ptr<JobWork>(JobInput input)> make_work;
};

}  // namespace heistd
