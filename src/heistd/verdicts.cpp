#include <algorithm>
#include <heistd/verdicts.hpp>
#include <utility>

namespace heistd {
namespace {

/// Calls `visit(parameter, value)` for each value that has a check, until one returns false.
template <class Visit>
void visit_checked(const Kind& kind, const Parameters& parameters, Visit visit) {
  for (const auto& parameter : kind.parameters) {
    const auto found = parameters.find(parameter.name);
    if (!parameter.check || found == parameters.end()) continue;
    if (!visit(parameter, found->second)) return;
  }
}

}  // namespace

Verdict judge(const Kind& kind, const Parameters& parameters) {
  Verdict verdict;
  visit_checked(kind, parameters, [&](const Parameter& parameter, const std::string& value) {
    if (const auto failure = parameter.check(value)) {
      verdict.refusal = Refusal{400, failure->code(), failure->what(), parameter.name};
    }
    return !verdict.refusal;
  });
  return verdict;
}

std::size_t check_bytes(const Kind& kind) noexcept {
  std::size_t most = 0;
  for (const auto& parameter : kind.parameters) most = std::max(most, parameter.check_bytes);
  return most;
}

std::string checked_text(const Kind& kind, const Parameters& parameters) {
  std::string about;
  visit_checked(kind, parameters, [&](const Parameter& parameter, const std::string& value) {
    if (about.empty()) about = kind.name;
    // With their sizes, so that no two requests have one text.
    about += '\n' + parameter.name + ' ' + std::to_string(value.size()) + ' ' + value;
    return true;
  });
  return about;
}

const Verdict* Verdicts::find(const std::string& about) const {
  const auto found = verdicts_.find(about);
  return found == verdicts_.end() ? nullptr : &found->second;
}

void Verdicts::add(const std::string& about, Verdict verdict) {
  if (verdicts_.contains(about)) return;
  by_age_.push_back(about);
  verdicts_.emplace(about, std::move(verdict));
  if (by_age_.size() <= max_verdicts) return;
  verdicts_.erase(by_age_.front());
  by_age_.pop_front();
}

}  // namespace heistd
