#include "table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

namespace bench {

namespace {

enum Column : std::uint8_t {
  workload,
  subject,
  median_column,
  min,
  max,
  unit,
  rounds,
  best_peer,
  ratio,
  low,
  high,
  coverage,
  shared_updates,
  remote_lines,
  system_calls,
  allocations,
  nodes
};
constexpr std::array columns = {
    "workload",    "subject",      "median",   "min",         "max",  "unit",
    "rounds",      "best peer",    "ratio",    "low",         "high", "coverage",
    "shared RMWs", "remote lines", "syscalls", "allocations", "nodes"};
/// The columns up to that one are aligned to the left.
constexpr std::size_t last_name = subject;
using Line = std::array<std::string, columns.size()>;

/// Three digits that matter, and no exponent.
std::string text_of(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  const int decimals = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  std::ostringstream text;
  text << std::fixed << std::setprecision(decimals) << value;
  return text.str();
}

void add_ratio(Line& line, const Row& row, const Results& results) {
  const Row* peer = results.best_peer(row.workload);
  if (peer == nullptr || peer->rounds.size() != row.rounds.size()) return;
  const auto interval = paired_ratio(row.rounds, peer->rounds);
  line[best_peer] = peer->subject;
  line[ratio] = text_of(interval.median);
  line[low] = text_of(interval.low);
  line[high] = text_of(interval.high);
  line[coverage] = text_of(interval.coverage);
}

void add_counts(Line& line, const Row& row) {
  if (!row.counts) return;
  const auto& counts = *row.counts;
  // oneTBB allocates through an allocator of its own, which is not seen.
  if (!row.subject.starts_with("tbb_")) line[allocations] = text_of(counts.allocations);
  if (!row.is_ours()) return;  // the seam is heist's
  line[shared_updates] = text_of(counts.shared_updates);
  line[remote_lines] = text_of(counts.remote_lines);
  line[system_calls] = text_of(counts.system_calls);
  line[nodes] = text_of(counts.nodes);
}

Line line_of(const Row& row, const Results& results) {
  Line line{row.workload,
            row.subject,
            text_of(median(row.rounds)),
            text_of(std::ranges::min(row.rounds)),
            text_of(std::ranges::max(row.rounds)),
            row.unit,
            std::to_string(row.rounds.size())};
  add_ratio(line, row, results);
  add_counts(line, row);
  return line;
}

/// Rows of one workload stand together: a measurement with several figures belongs to several.
std::vector<const Row*> by_workload(const Results& results) {
  std::vector<const Row*> rows;
  for (const auto& row : results.rows) {
    const auto last = std::ranges::find_if(rows.rbegin(), rows.rend(), [&](const Row* other) {
      return other->workload == row.workload;
    });
    rows.insert(last == rows.rend() ? rows.end() : last.base(), &row);
  }
  return rows;
}

std::vector<Line> lines_of(const Results& results) {
  std::vector<Line> lines(1);
  std::ranges::copy(columns, lines[0].begin());
  for (const Row* row : by_workload(results)) lines.push_back(line_of(*row, results));
  return lines;
}

void print_aligned(const std::vector<Line>& lines, std::ostream& out) {
  std::array<std::size_t, columns.size()> widths{};
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      out << (i <= last_name ? std::left : std::right) << std::setw(int(widths[i])) << line[i]
          << "  ";
    }
    out << '\n';
  }
}

void print_tabs(const std::vector<Line>& lines, std::ostream& out) {
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) out << (i == 0 ? "" : "\t") << line[i];
    out << '\n';
  }
}

}  // namespace

void print_table(const Results& results, TableStyle style, std::ostream& out) {
  const auto lines = lines_of(results);
  if (style == TableStyle::tabs) return print_tabs(lines, out);
  print_aligned(lines, out);
  out << "ratio: to the best peer, median over the rounds; between low and high with that "
         "coverage. "
         "From \"shared RMWs\" on: per operation, heist's own but for allocations\n";
}

}  // namespace bench
