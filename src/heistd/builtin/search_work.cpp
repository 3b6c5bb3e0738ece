// The lines of the upload that match a pattern.
#include <algorithm>
#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/builtin/line_pattern.hpp>
#include <heistd/builtin/line_reader.hpp>
#include <heistd/limits.hpp>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace heistd {
namespace {

using Clock = std::chrono::steady_clock;

/// A matching line as replies show it; bytes that are no UTF-8 become U+FFFD.
std::string line_json(std::uint64_t number, std::string_view text) {
  // Not as an object, whose destructor needs memory.
  const nlohmann::json json(text);
  const auto shown = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return "{\"number\":" + std::to_string(number) + ",\"text\":" + shown + "}";
}

/// At least so many bytes show the line: what certainly does not fit need not be written first,
/// which takes long.
std::size_t least_shown_bytes(std::string_view text) noexcept {
  constexpr std::string_view short_escapes = "\b\t\n\f\r\"\\";
  constexpr unsigned char first_printable = 0x20;
  constexpr std::size_t short_escape = 2;
  constexpr std::size_t long_escape = 6;
  std::size_t bytes = 0;
  for (const char byte : text) {
    if (short_escapes.find(byte) != std::string_view::npos) {
      bytes += short_escape;
    } else {
      bytes += static_cast<unsigned char>(byte) < first_printable ? long_escape : 1;
    }
  }
  return bytes;
}

/// The pattern, the pieces of a line of several blocks, and the matching lines. Each byte of the
/// upload becomes 32 of those at most (`{"number":1000,"text":"\u0001"},` are two), in a string
/// that is half empty when it has just grown.
std::size_t search_bytes(std::size_t body_bytes) noexcept {
  return LinePattern::max_memory + std::min(body_bytes, 2 * max_line_bytes) +
         std::min(64 * body_bytes, 2 * max_matched_bytes);
}

JobFailure bad_pattern(const std::string& error) { return {"bad_pattern", error}; }

/// What is wrong with the pattern; nothing when it is good.
std::optional<JobFailure> check_pattern(const std::string& pattern) {
  const auto checked = LinePattern::check(pattern);
  const auto* error = std::get_if<std::string>(&checked);
  if (error == nullptr) return std::nullopt;
  return bad_pattern(*error);
}

/// Errors: JobFailure.
std::size_t program_size_of(const std::string& pattern) {
  const auto checked = LinePattern::check(pattern);
  if (const auto* error = std::get_if<std::string>(&checked)) throw bad_pattern(*error);
  return std::get<std::size_t>(checked);
}

class SearchWork final : public JobWork {
 public:
  SearchWork(Blocks body, std::string pattern)
      : reader_(std::move(body)), pattern_text_(std::move(pattern)) {}

  bool step(std::chrono::nanoseconds budget) override {
    const auto deadline = Clock::now() + budget;
    // Each part may take as long as a chunk may, but mostly takes none of it.
    do {
      if (!program_size_) {
        program_size_ = program_size_of(pattern_text_);
      } else if (!pattern_) {
        pattern_ = std::make_unique<LinePattern>(pattern_text_, *program_size_);
      } else if (matches_) {
        keep_line();
      } else {
        if (!line_ && !next_line()) return true;
        match_on();
      }
    } while (Clock::now() < deadline);
    return false;
  }

  Blocks give_up_body() noexcept override { return reader_.give_up_body(); }

  JobResult take_result() override {
    auto lines = std::make_shared<Blocks>();
    lines_.shrink_to_fit();
    if (!lines_.empty()) lines->push_back(std::move(lines_));
    lines->shrink_to_fit();
    return JsonResult{{counts_json() + R"(,"lines":[)", std::move(lines), "]}"}};
  }

 private:
  /// The beginning of the result.
  [[nodiscard]] std::string counts_json() const {
    return R"({"searched":)" + std::to_string(reader_.line_count()) + R"(,"matched":)" +
           std::to_string(matched_) + R"(,"truncated":)" + (kept_ < matched_ ? "true" : "false");
  }
  /// False when there are no more.
  bool next_line() {
    for (line_ = reader_.read(); !line_; line_ = reader_.read()) {
      if (!reader_.has_more_blocks()) break;
      reader_.open_block();
    }
    if (!line_) line_ = reader_.read_last();
    return line_.has_value();
  }

  void match_on() {
    const auto matched = pattern_->match(*line_);
    if (!matched) return;
    // Showing a long line takes as long as matching a portion of it, so it is a part of its own.
    matches_ = *matched;
    if (!matches_) line_.reset();
  }

  void keep_line() {
    keep(*line_);
    matches_ = false;
    line_.reset();
  }

  void keep(std::string_view line) {
    ++matched_;
    // Once one line did not fit no later one is kept: what is kept is the beginning.
    full_ = full_ || kept_ == max_matched_lines ||
            lines_.size() + least_shown_bytes(line) > max_matched_bytes;
    if (full_) return;
    const auto json = line_json(reader_.line_count(), line);
    full_ = lines_.size() + json.size() > max_matched_bytes;
    if (full_) return;
    if (kept_++ > 0) lines_ += ',';
    lines_ += json;
  }

  LineReader reader_;
  const std::string pattern_text_;
  std::optional<std::size_t> program_size_;
  std::unique_ptr<LinePattern> pattern_;
  std::optional<std::string_view> line_;  ///< that is being matched; the reader has its bytes
  bool matches_ = false;                  ///< it does, and is yet to be kept
  std::string lines_;  ///< the first matching ones, within the limits, as replies show them
  std::uint64_t kept_ = 0;
  std::uint64_t matched_ = 0;
  bool full_ = false;
};

}  // namespace

std::unique_ptr<JobWork> make_search_work(Blocks body, std::string pattern) {
  return std::make_unique<SearchWork>(std::move(body), std::move(pattern));
}

Kind search_kind() {
  Kind kind;
  kind.name = "search";
  kind.label = "search";
  kind.parameters = {{.name = "pattern",
                      .required = true,
                      .check = check_pattern,
                      .check_bytes = LinePattern::max_memory}};
  kind.working_bytes = search_bytes;
  kind.make_work = [](JobInput input) {
    return make_search_work(std::move(input.body), input.parameters.at("pattern"));
  };
  return kind;
}

}  // namespace heistd
