// StoredRest: the rest of a result that only a journal has, while it is sent.
#pragma once

#include <heistd/job_keeper.hpp>
#include <heistd/reply.hpp>
#include <optional>
#include <string>
#include <utility>

namespace heistd {

/// Memory has one block of it at a time. When the job is forgotten meanwhile, there is no next one.
///
/// Lifetime: within that of the keeper.
class StoredRest final : public ReplyRest {
 public:
  StoredRest(JobKeeper& keeper, JobId id, ByteRange rest)
      : keeper_(keeper), id_(std::move(id)), rest_(rest) {}

  [[nodiscard]] std::uint64_t bytes() const noexcept override { return rest_.size; }
  [[nodiscard]] heist::Promise<std::optional<std::string>> next() override;

 private:
  JobKeeper& keeper_;
  const JobId id_;
  ByteRange rest_;
};

}  // namespace heistd
