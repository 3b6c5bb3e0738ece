#include "bars.hpp"

#include <charconv>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::string_view absolute = "-";

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

double parse_limit(const std::string& text) {
  double limit = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, limit);
  if (error != std::errc() || stop != end || !(limit > 0) || !std::isfinite(limit)) {
    throw std::runtime_error("\"" + text + "\" is no positive number");
  }
  return limit;
}

void check_row(const Registry& registry, const std::string& workload, const std::string& subject) {
  if (!registry.has_row(workload, subject)) {
    throw std::runtime_error("there is no row \"" + workload + ' ' + subject + "\"");
  }
}

Bar parse_bar(const std::string& line, const Registry& registry) {
  const auto fields = fields_of(line);
  if (fields.size() != 5) throw std::runtime_error("not five fields between tabs");
  Bar bar{fields[0], fields[1], {}, {}, parse_limit(fields[4])};
  check_row(registry, bar.workload, bar.subject);
  if (fields[2] == absolute && fields[3] == absolute) return bar;
  check_row(registry, fields[2], fields[3]);
  bar.other_workload = fields[2];
  bar.other_subject = fields[3];
  return bar;
}

std::string name_of(const Bar& bar) {
  std::ostringstream name;
  name << bar.workload << ' ' << bar.subject << " <= " << bar.limit;
  if (!bar.other_workload.empty()) {
    name << " x " << bar.other_workload << ' ' << bar.other_subject;
  }
  return name.str();
}

/// True unless it falls short.
bool judge_one(const Bar& bar, const Results& results, std::ostream& out) {
  const Row* row = results.find(bar.workload, bar.subject);
  const Row* other = results.find(bar.other_workload, bar.other_subject);
  out << name_of(bar) << ": ";
  if (row == nullptr || (other == nullptr && !bar.other_workload.empty())) {
    out << "not judged, its rows were not run\n";
    return true;
  }
  const double measured =
      other != nullptr ? paired_ratio(row->rounds, other->rounds).median : median(row->rounds);
  // Nothing at all costs something.
  const bool reached = median(row->rounds) > 0 && measured > 0 && measured <= bar.limit;
  out << std::setprecision(3) << measured << (reached ? " OK\n" : " SHORT\n");
  return reached;
}

}  // namespace

std::vector<Bar> read_bars(const std::string& file, const Registry& registry) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be read");
  std::vector<Bar> bars;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.starts_with('#')) continue;
    try {
      bars.push_back(parse_bar(line, registry));
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(file + ':' + std::to_string(number) + ": " + error.what());
    }
  }
  if (bars.empty()) throw std::runtime_error(file + ": has no bars");
  return bars;
}

bool judge(const std::vector<Bar>& bars, const Results& results, std::ostream& out) {
  bool all_reached = true;
  for (const auto& bar : bars) all_reached = judge_one(bar, results, out) && all_reached;
  return all_reached;
}

}  // namespace bench
