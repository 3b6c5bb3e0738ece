#include <algorithm>
#include <array>
#include <heistd/job_id.hpp>
#include <heistd/kind_table.hpp>
#include <heistd/query.hpp>
#include <set>
#include <stdexcept>
#include <utility>

namespace heistd {
namespace {

/// What requests say of jobs of every kind.
constexpr std::array<std::string_view, 8> taken = {"after",  "delay",   "max_attempts", "priority",
                                                   "signal", "timeout", "ttl",          "wait"};

[[noreturn]] void refuse(const std::string& what) { throw std::invalid_argument(what); }

void check_names(const Kind& kind) {
  if (kind.name == "requeue") refuse("no kind may be called \"requeue\": see POST /jobs/requeue");
  if (!is_name(kind.name) || is_job_id(kind.name)) {
    refuse("a kind's name is 1 to 64 letters, digits, '.', '_' or '-', and no job's id: \"" +
           kind.name + '"');
  }
  std::set<std::string_view> names(taken.begin(), taken.end());
  for (const auto& parameter : kind.parameters) {
    const auto which = "the parameter \"" + parameter.name + "\" of the kind " + kind.name;
    if (!is_name(parameter.name)) {
      refuse(which + " must be 1 to 64 letters, digits, '.', '_' or '-'");
    }
    if (!names.insert(parameter.name).second) refuse(which + " has a name that is taken");
  }
}

}  // namespace

void KindTable::add(Kind kind) {
  check_names(kind);
  const auto name = kind.name;
  if (!kinds_.emplace(name, std::move(kind)).second) {
    refuse("there are two kinds of the name " + name);
  }
}

const Kind* KindTable::find(std::string_view name) const noexcept {
  const auto found = kinds_.find(name);
  return found == kinds_.end() ? nullptr : &found->second;
}

std::string KindTable::names() const {
  std::string text;
  for (const auto& [name, kind] : kinds_) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::size_t KindTable::most_working_bytes(std::size_t body_bytes) const {
  std::size_t most = 0;
  for (const auto& [name, kind] : kinds_) most = std::max(most, kind.working_bytes(body_bytes));
  return most;
}

}  // namespace heistd
