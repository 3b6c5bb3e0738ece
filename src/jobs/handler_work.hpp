// HandlerWork: the work of a job whose kind has a handler.
#pragma once

#include <cstddef>
#include <heist/jobs/server.hpp>
#include <heistd/job_work.hpp>
#include <heistd/kind.hpp>
#include <jobs/file_reader.hpp>
#include <jobs/job_core.hpp>
#include <memory>
#include <optional>

namespace heistd {

/// Calls the handler in its first step; its last ones take the result, and read the result's file.
class HandlerWork final : public JobWork {
 public:
  /// The handler lives longer.
  HandlerWork(const heist::jobs::Handler& handler, std::size_t max_result_bytes, JobInput input)
      : handler_(handler),
        max_result_bytes_(max_result_bytes),
        core_(std::make_shared<heist::jobs::detail::JobCore>(std::move(input))) {}

  bool step(std::chrono::nanoseconds budget) override;
  [[nodiscard]] std::optional<heist::Promise<void>> pending() override;
  [[nodiscard]] Blocks give_up_body() noexcept override;
  [[nodiscard]] JobResult take_result() override;

 private:
  [[nodiscard]] bool is_running() const noexcept { return handled_ && !handled_->settled(); }
  void start();
  void take();
  void keep(std::string piece);
  [[nodiscard]] bool read_file();

  const heist::jobs::Handler& handler_;
  const std::size_t max_result_bytes_;
  const std::shared_ptr<heist::jobs::detail::JobCore> core_;
  std::optional<heist::Promise<heist::jobs::Result>> handled_;  ///< once the handler was called
  bool taken_ = false;                                          ///< the result
  std::string content_type_;
  std::shared_ptr<Blocks> output_ = std::make_shared<Blocks>();
  std::size_t output_bytes_ = 0;
  std::optional<FileReader> file_;
};

}  // namespace heistd
