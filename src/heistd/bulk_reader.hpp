// BulkReader: makes jobs of the lines of a bulk request, on agents.
#pragma once

#include <chrono>
#include <heist/promise.hpp>
#include <heistd/bulk_item.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heistd {

/// Reads the lines of a body, in chunks as short as those of a job, and frees the body on the way.
///
/// Thread: one agent after another, and the network before and after that.
class BulkReader : public std::enable_shared_from_this<BulkReader> {
 public:
  /// `key` is of the whole request: the job of each line has it, with the line's number.
  BulkReader(Blocks body, std::optional<std::string> key) noexcept
      : body_(std::move(body)), key_(std::move(key)) {}

  /// Errors: none; what went wrong is the refusal.
  [[nodiscard]] heist::Promise<void> run();

  /// The jobs, in the order of their lines; nothing when there is a refusal of all of them.
  std::vector<BulkItem> items;
  std::optional<Refusal> refusal;
  bool has_ended = false;  ///< the agents have not been closed before

 private:
  [[nodiscard]] bool read_some();
  void read_block(std::string_view block);
  void end_line();

  Blocks body_;
  std::optional<std::string> key_;
  std::size_t block_ = 0;
  std::size_t place_ = 0;  ///< in that block
  std::string line_;       ///< what has come of it
  bool is_too_long_ = false;
};

}  // namespace heistd
