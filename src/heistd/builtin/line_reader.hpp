// LineReader: cuts blocks into lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <heistd/blocks.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// Gives the lines of a sequence of blocks, without their newlines; a line may begin in one block
/// and end in a later one. Bytes after the last newline are a line as well.
///
/// Memory: a block is freed when the next one is opened.
class LineReader {
 public:
  explicit LineReader(Blocks body) : body_(std::move(body)) {}

  /// Goes on to the next block; what the current one still holds must have been read.
  void open_block();
  [[nodiscard]] bool has_more_blocks() const noexcept { return next_ < body_.size(); }
  [[nodiscard]] bool block_done() const noexcept { return rest_.empty(); }

  /// The next line that ends in the current block, valid until the next call. Nothing when the
  /// block is done; the beginning of a line is then kept.
  ///
  /// Errors: JobFailure "line_too_long".
  [[nodiscard]] std::optional<std::string_view> read();

  /// The bytes after the last newline, once all blocks are done; nothing when there are none.
  [[nodiscard]] std::optional<std::string_view> read_last();

  /// The blocks that were not opened; nothing else may be called then.
  [[nodiscard]] Blocks give_up_body() noexcept { return std::move(body_); }

  /// Lines given so far: the number of the last one.
  [[nodiscard]] std::uint64_t line_count() const noexcept { return line_count_; }

 private:
  void require_short(std::size_t bytes) const;

  Blocks body_;
  std::size_t next_ = 0;
  std::string block_;
  std::string_view rest_;  ///< of the block
  std::string begun_;      ///< a line that did not end yet
  std::string joined_;     ///< a line that ended in a later block than it began in
  std::uint64_t line_count_ = 0;
};

}  // namespace heistd
