// JobCore: what stands behind a handler's Job.
#pragma once

#include <cstddef>
#include <heist/task_signal.hpp>
#include <heist/version.hpp>
#include <heistd/blocks.hpp>
#include <heistd/job_progress.hpp>
#include <heistd/job_work.hpp>
#include <heistd/kind.hpp>
#include <memory>
#include <utility>

namespace HEIST_NAMESPACE::jobs::detail {

struct JobCore {
  explicit JobCore(heistd::JobInput input)
      : kind(input.kind),
        body(std::move(input.body)),
        bytes(heistd::byte_count(body)),
        parameters(input.parameters),
        signal(std::move(input.signal)),
        progress(std::move(input.progress)),
        id(std::move(input.id)),
        attempt(input.attempt) {}

  const heistd::Kind& kind;
  heistd::Blocks body;
  const std::size_t bytes;
  std::size_t next = 0;  ///< of the body's blocks
  const heistd::Parameters parameters;
  const TaskSignal signal;
  const std::shared_ptr<heistd::JobProgress> progress;
  const heistd::JobId id;
  const heistd::Attempt attempt;
};

}  // namespace HEIST_NAMESPACE::jobs::detail
