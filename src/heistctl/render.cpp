#include <algorithm>
#include <array>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <heistctl/render.hpp>

namespace heistctl {
namespace {

using std::chrono::nanoseconds;

/// Fits into 80 columns.
constexpr char level_format[] = "%-13s %6s %7s %7s %6s %6s %6s %4s %8s %7s\n";

/// As printf, to a string.
[[gnu::format(printf, 1, 2)]] std::string format_text(const char* format, ...) {
  std::array<char, 512> text{};
  va_list values;
  va_start(values, format);
  const auto size = std::vsnprintf(text.data(), text.size(), format, values);
  va_end(values);
  return {text.data(), std::min(static_cast<std::size_t>(std::max(size, 0)), text.size() - 1)};
}

nanoseconds from_microseconds(double count) {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double, std::micro>(count));
}

std::string percent(double part) {
  return std::to_string(std::lround(std::clamp(part, 0.0, 1.0) * 100)) + " %";
}

std::string attempts_of(const Job& job) {
  if (!job.attempts || !job.max_attempts) return {};
  return std::to_string(*job.attempts) + " of " + std::to_string(*job.max_attempts);
}

std::string error_of(const Job& job) {
  if (job.error_code.empty()) return {};
  return printable(job.error_code + ": " + job.error_message);
}

std::string time_of(const std::optional<double>& microseconds) {
  return microseconds ? duration_text(from_microseconds(*microseconds)) : "";
}

void add_line(std::string& text, const char* name, const std::string& value) {
  if (!value.empty()) text += format_text("%-10s ", name) + value + '\n';
}

/// "[=====>    ]" of so many columns.
std::string bar(double part, std::size_t width) {
  const auto inside = width - 2;
  const auto full =
      static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * static_cast<double>(inside));
  std::string text(inside, ' ');
  std::fill_n(text.begin(), full, '=');
  if (full < inside) text[full] = '>';
  return '[' + text + ']';
}

std::string rate_of(const Level& level, const std::optional<Stats>& before, nanoseconds between) {
  if (!before || between.count() <= 0) return "-";
  const auto old = std::ranges::find(before->levels, level.priority, &Level::priority);
  if (old == before->levels.end() || old->done > level.done) return "-";
  const auto seconds = std::chrono::duration<double>(between).count();
  return format_text("%.1f", static_cast<double>(level.done - old->done) / seconds);
}

std::string level_line(const Level& level, const std::string& rate) {
  const auto number = [](std::uint64_t count) { return std::to_string(count); };
  const auto time = [](double count) { return duration_text(from_microseconds(count)); };
  return format_text(level_format, printable(level.priority).c_str(), number(level.queued).c_str(),
                     number(level.running).c_str(), number(level.delayed).c_str(), rate.c_str(),
                     number(level.done).c_str(), number(level.failed).c_str(),
                     number(level.dead).c_str(), time(level.delay_p50_us).c_str(),
                     time(level.delay_p99_us).c_str());
}

}  // namespace

std::string refusal_text(const Refusal& refusal) {
  const auto where = refusal.field.empty() ? "" : " (" + refusal.field + ")";
  return printable(refusal.code + where + ": " + refusal.message) + '.';
}

std::string printable(std::string_view text) {
  std::string plain(text);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    const auto byte = static_cast<unsigned char>(plain[i]);
    const bool is_c1 = i > 0 && static_cast<unsigned char>(plain[i - 1]) == 0xc2 && byte < 0xa0;
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f) plain[i] = '?';
    if (is_c1) plain.replace(i - 1, 2, "?");
  }
  return plain;
}

std::string duration_text(nanoseconds time) {
  using Seconds = std::chrono::duration<double>;
  const auto seconds = Seconds(time).count();
  if (seconds < 0.001) return format_text("%.0f us", seconds * 1e6);
  if (seconds < 0.9995) return format_text("%.3g ms", seconds * 1e3);
  if (seconds < 59.95) return format_text("%.3g s", seconds);
  const auto whole = std::lround(seconds);
  if (whole < 3600) return format_text("%ld m %02ld s", whole / 60, whole % 60);
  return format_text("%ld h %02ld m", whole / 3600, whole / 60 % 60);
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
  double count = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; count >= 1024 && unit + 1 < units.size(); ++unit) count /= 1024;
  return format_text("%.1f %s", count, units.at(unit));
}

std::string transfer_line(std::string_view verb, std::int64_t done, std::int64_t all) {
  return std::string(verb) + ' ' + size_text(static_cast<std::uint64_t>(done)) + " of " +
         size_text(static_cast<std::uint64_t>(all));
}

std::string job_line(const Job& job) {
  auto line = job.id + ' ' + job.state;
  if (job.progress && !job.has_ended()) line += ", " + percent(*job.progress);
  if (const auto attempts = attempts_of(job); !attempts.empty()) line += ", attempt " + attempts;
  if (job.has_ended() && job.run_time_us) {
    line += ", waited " + time_of(job.queue_delay_us) + ", ran " + time_of(job.run_time_us);
  }
  if (const auto error = error_of(job); !error.empty()) line += ", " + error;
  return line;
}

std::string progress_line(const Job& job, nanoseconds watched, std::size_t width) {
  const auto before = job.id + ' ' + job.state + ' ';
  const auto after = (job.progress ? ' ' + percent(*job.progress) + ' ' : std::string()) +
                     duration_text(std::chrono::floor<std::chrono::seconds>(watched));
  constexpr std::size_t least = 7;
  const auto used = before.size() + after.size() + 1;
  if (!job.progress || used + least > width) return before + after;
  return before + bar(*job.progress, width - used) + after;
}

std::string job_text(const Job& job) {
  std::string text;
  add_line(text, "id", job.id);
  add_line(text, "kind", printable(job.kind));
  add_line(text, "state", job.state);
  add_line(text, "priority", job.priority);
  add_line(text, "signal", job.signal);
  add_line(text, "upload", size_text(job.bytes));
  add_line(text, "attempts", attempts_of(job));
  add_line(text, "progress", job.progress ? percent(*job.progress) : "");
  add_line(text, "waited", time_of(job.queue_delay_us));
  add_line(text, "ran", time_of(job.run_time_us));
  add_line(text, job.has_ended() ? "error" : "last error", error_of(job));
  return text;
}

std::string list_line(const Job& job, bool in_columns) {
  return format_text(
      in_columns ? "%-32s %-12s %-8s %-13s %10s %s\n" : "%s\t%s\t%s\t%s\t%s\t%s\n", job.id.c_str(),
      printable(job.kind).c_str(), job.state.c_str(), job.priority.c_str(),
      (in_columns ? size_text(job.bytes) : std::to_string(job.bytes)).c_str(), job.signal.c_str());
}

std::string list_head() {
  return format_text("%-32s %-12s %-8s %-13s %10s %s\n", "ID", "KIND", "STATE", "PRIORITY",
                     "UPLOAD", "SIGNAL");
}

std::string stats_table(const Stats& now, const std::optional<Stats>& before, nanoseconds between) {
  auto text = "client " + printable(now.client) + ": " + std::to_string(now.jobs_held) +
              " unfinished jobs, " + size_text(now.bytes_held) + '\n';
  text += format_text(level_format, "PRIORITY", "QUEUED", "RUNNING", "DELAYED", "DONE/S", "DONE",
                      "FAILED", "DEAD", "WAIT P50", "P99");
  for (const auto& level : now.levels) text += level_line(level, rate_of(level, before, between));
  return text;
}

}  // namespace heistctl
