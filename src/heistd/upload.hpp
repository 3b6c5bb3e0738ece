// Upload: the body of a job on its way in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heistd/block_disposal.hpp>
#include <heistd/budget.hpp>
#include <heistd/job_service.hpp>
#include <heistd/quota.hpp>
#include <heistd/request_digest.hpp>
#include <optional>
#include <span>

namespace heistd {

/// A job that was found good, whose bytes are still to come. What is read into room() is kept block
/// by block, and every byte is in the client's budget before it is read, or as soon as its number
/// is known.
class Upload {
 public:
  /// `disposal` frees what was received if the upload does not end as a job.
  Upload(Client& client, JobRequest request, Budget::Ticket ticket, std::size_t max_body,
         BlockDisposal disposal) noexcept
      : client_(&client),
        request_(std::move(request)),
        max_body_(max_body),
        blocks_(std::move(disposal), std::move(ticket)) {}

  /// Takes a place among those that wait for their jobs, if the request wants to.
  ///
  /// Errors: 503 "too_many_waits".
  [[nodiscard]] std::optional<Refusal> reserve_wait();

  /// A journal is to store the body, which counts for its disk from now on, too.
  void note_stored() noexcept { is_stored_ = true; }

  /// Tells how long the body will be.   Errors: 413 "body_too_large", 503 "queue_full",
  /// "too_much_unsent".
  [[nodiscard]] std::optional<Refusal> announce(std::uint64_t bytes);

  /// Where the next bytes go.   Errors: std::bad_alloc.
  [[nodiscard]] std::span<char> room();
  /// Says how many bytes were read into room().   Errors: as announce(), when nothing was
  /// announced.
  [[nodiscard]] std::optional<Refusal> commit(std::size_t bytes);

  [[nodiscard]] const JobRequest& request() const noexcept { return request_; }
  [[nodiscard]] Client& client() const noexcept { return *client_; }
  [[nodiscard]] std::size_t size() const noexcept { return received_; }

  [[nodiscard]] Quota::Share take_wait() noexcept { return std::move(wait_); }

  /// Has a repetition of this request be known by this key.   Errors: std::bad_alloc.
  void set_key(std::string_view key, std::string_view target) { digest_.emplace(key, target); }
  /// Nothing when there is no such key. To be called once.   Errors: std::bad_alloc.
  [[nodiscard]] std::optional<IdempotencyKey> take_key();

  /// What has come, and what the budget counts for it; the upload is over.
  [[nodiscard]] Blocks take_blocks();
  [[nodiscard]] Budget::Ticket take_ticket() noexcept { return std::move(blocks_.ticket); }

  /// Posts the job; the upload is over.   Errors: as JobService::submit.
  [[nodiscard]] Result<std::shared_ptr<Job>> submit(JobService& service);

 private:
  [[nodiscard]] std::optional<Refusal> take(std::size_t bytes);

  Client* client_;
  JobRequest request_;
  Quota::Share wait_;
  Quota::Share unsent_;  ///< what was announced and has not come
  std::size_t max_body_;
  std::optional<std::size_t> announced_;
  std::size_t received_ = 0;
  bool is_stored_ = false;
  std::optional<RequestDigest> digest_;
  DisposedBlocks blocks_;
  std::size_t used_ = 0;  ///< of the last block
};

}  // namespace heistd
