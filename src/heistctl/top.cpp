#include <unistd.h>

#include <chrono>
#include <heistctl/commands.hpp>
#include <heistctl/interrupt.hpp>
#include <heistctl/render.hpp>
#include <heistctl/status_line.hpp>
#include <optional>

namespace heistctl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view clear_screen = "\x1b[H\x1b[2J";

/// The figures of now, and their change since it was asked before.
class LevelView {
 public:
  explicit LevelView(Client& client) : client_(client) {}

  std::string table() {
    const auto now = Clock::now();
    auto stats = parse_stats(client_.ask({.target = "/stats"}).body);
    auto text = stats_table(stats, before_, now - then_);
    before_ = std::move(stats);
    then_ = now;
    return text;
  }

 private:
  Client& client_;
  std::optional<Stats> before_;
  Clock::time_point then_;
};

}  // namespace

ExitCode top(Client& client, const Options& options) {
  LevelView view(client);
  if (isatty(STDOUT_FILENO) == 0) {
    write_all(STDOUT_FILENO, view.table());
    return ExitCode::done;
  }
  try {
    for (;;) {
      const auto table = view.table();
      write_all(STDOUT_FILENO, std::string(clear_screen) + client.address().text + ", every " +
                                   duration_text(options.interval) + "; Ctrl-C ends\n" + table);
      pause_for(options.interval);
    }
  } catch (const Failure& failure) {
    if (failure.code() == ExitCode::interrupted) return ExitCode::done;
    throw;
  }
}

}  // namespace heistctl
