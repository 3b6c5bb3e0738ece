// Job: what a handler sees of its job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/task_signal.hpp>
#include <heist/version.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace HEIST_NAMESPACE::jobs {

namespace detail {
struct JobCore;
}  // namespace detail

/// What a handler gets: the upload, the parameters, and what is asked of the job meanwhile.
///
/// A handler that is a coroutine calls `co_await heist::yield()` between its pieces of work. More
/// urgent jobs come in between, and an aborted one ends there.
///
/// Thread: one at a time.   Lifetime: until the handler has ended.
class HEIST_EXPORT Job {
 public:
  /// Called by the server.
  explicit Job(std::shared_ptr<detail::JobCore> core) noexcept;
  Job(Job&&) noexcept;
  Job& operator=(Job&&) noexcept;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();

  /// The next piece of the upload, 128 KiB at most; nothing behind the last one. The server keeps
  /// no copy of it.
  [[nodiscard]] std::optional<std::string> read();
  /// All bytes of the upload.
  [[nodiscard]] std::size_t bytes() const noexcept;

  /// The value of a parameter; nothing when the request had none.
  ///
  /// Errors: std::invalid_argument when it is of another type.
  [[nodiscard]] std::optional<std::string> text(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  /// False when the request had none.
  [[nodiscard]] bool flag(std::string_view name) const;

  /// Says which part of the job is done, from 0 to 1: the `progress` of `GET /jobs/ID`.
  ///
  /// Blocks: never.
  void report_progress(double part) noexcept;

  /// The job's id. All attempts of the job have it and no other job has it, so it is an idempotency
  /// key for what the handler asks others to do: a job may run more than once.
  [[nodiscard]] const std::string& id() const noexcept;
  /// The number of this attempt, from 1. No other attempt of the job has it; some may be left out.
  [[nodiscard]] std::uint32_t attempt() const noexcept;

  /// Aborted when the job is, and of the job's priority, which may change.
  [[nodiscard]] const TaskSignal& signal() const noexcept;

 private:
  friend struct heist::detail::Access;
  [[nodiscard]] detail::JobCore& core() const noexcept { return *core_; }

  std::shared_ptr<detail::JobCore> core_;
};

}  // namespace HEIST_NAMESPACE::jobs
