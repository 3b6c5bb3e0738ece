#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <heistctl/failure.hpp>
#include <heistctl/interrupt.hpp>
#include <heistctl/status_line.hpp>

namespace heistctl {

StatusLine::StatusLine(int descriptor)
    : descriptor_(descriptor), is_on_terminal_(isatty(descriptor) == 1) {}

std::size_t StatusLine::width() const noexcept {
  winsize size{};
  const bool is_known = ioctl(descriptor_, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : 80;
}

void StatusLine::show(std::string_view text) {
  if (!is_on_terminal_) return;
  const auto fits = text.substr(0, width() - 1);  // the last column would begin a new line
  write_all(descriptor_, "\r" + std::string(fits) + "\x1b[K");
  is_shown_ = true;
}

void StatusLine::clear() noexcept {
  if (!is_shown_) return;
  is_shown_ = false;
  constexpr std::string_view erase = "\r\x1b[K";
  // Where it cannot be written there is nothing to erase.
  [[maybe_unused]] const auto written = write(descriptor_, erase.data(), erase.size());
}

void write_all(int descriptor, std::string_view text, const std::string& where) {
  while (!text.empty()) {
    const auto written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      check_interrupts();
      continue;
    }
    if (written < 0) {
      throw Failure(ExitCode::local, "cannot write to " + where + ": " + last_error());
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace heistctl
