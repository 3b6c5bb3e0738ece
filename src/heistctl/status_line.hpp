// StatusLine: a line on a terminal that is written again and again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace heistctl {

/// Shows nothing where the output is no terminal.
class StatusLine {
 public:
  /// `descriptor` is of the output.
  explicit StatusLine(int descriptor);
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  [[nodiscard]] bool is_on_terminal() const noexcept { return is_on_terminal_; }
  /// Columns of the terminal; 80 when it does not say.
  [[nodiscard]] std::size_t width() const noexcept;

  void show(std::string_view text);
  /// Makes room for other output.
  void clear() noexcept;

 private:
  int descriptor_;
  bool is_on_terminal_;
  bool is_shown_ = false;
};

/// Writes all of the text. Errors: a Failure, which says where that cannot be done.
void write_all(int descriptor, std::string_view text, const std::string& where = "the output");

}  // namespace heistctl
