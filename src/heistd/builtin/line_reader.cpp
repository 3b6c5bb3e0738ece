#include <heistd/builtin/line_reader.hpp>
#include <heistd/job_failure.hpp>
#include <heistd/job_result.hpp>
#include <heistd/limits.hpp>
#include <string>
#include <utility>

namespace heistd {

void LineReader::open_block() {
  block_ = std::move(body_[next_++]);
  rest_ = block_;
}

std::optional<std::string_view> LineReader::read() {
  const auto newline = rest_.find('\n');
  const auto piece = rest_.substr(0, newline);
  require_short(begun_.size() + piece.size());
  rest_.remove_prefix(newline == std::string_view::npos ? rest_.size() : newline + 1);
  if (newline == std::string_view::npos) {
    begun_ += piece;
    return std::nullopt;
  }
  ++line_count_;
  if (begun_.empty()) return piece;
  joined_ = std::exchange(begun_, {});
  joined_ += piece;
  return joined_;
}

std::optional<std::string_view> LineReader::read_last() {
  if (begun_.empty()) return std::nullopt;
  ++line_count_;
  joined_ = std::exchange(begun_, {});
  return joined_;
}

void LineReader::require_short(std::size_t bytes) const {
  if (bytes <= max_line_bytes) return;
  throw JobFailure("line_too_long", "line " + std::to_string(line_count_ + 1) + " is longer than " +
                                        std::to_string(max_line_bytes) + " bytes");
}

}  // namespace heistd
