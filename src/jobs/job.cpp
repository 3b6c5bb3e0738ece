#include <algorithm>
#include <heist/jobs/job.hpp>
#include <heistd/parameter.hpp>
#include <jobs/job_core.hpp>
#include <stdexcept>

namespace HEIST_NAMESPACE::jobs {
namespace {

/// The text of a parameter of that type; null when the request had none.
const std::string* find(const detail::JobCore& core, std::string_view name, ParameterType type) {
  const auto known = std::ranges::find(core.kind.parameters, name, &Parameter::name);
  if (known == core.kind.parameters.end() || known->type != type) {
    throw std::invalid_argument("jobs of the kind " + core.kind.name +
                                " have no parameter of that type: " + std::string(name));
  }
  const auto found = core.parameters.find(name);
  return found == core.parameters.end() ? nullptr : &found->second;
}

}  // namespace

Job::Job(std::shared_ptr<detail::JobCore> core) noexcept : core_(std::move(core)) {}
Job::Job(Job&&) noexcept = default;
Job& Job::operator=(Job&&) noexcept = default;
Job::~Job() = default;

std::optional<std::string> Job::read() {
  if (core_->next == core_->body.size()) return std::nullopt;
  return std::move(core_->body[core_->next++]);
}

std::size_t Job::bytes() const noexcept { return core_->bytes; }

std::optional<std::string> Job::text(std::string_view name) const {
  const auto* const value = find(*core_, name, ParameterType::text);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<std::int64_t> Job::integer(std::string_view name) const {
  const auto* const value = find(*core_, name, ParameterType::integer);
  return value == nullptr ? std::nullopt : heistd::parse_number<std::int64_t>(*value);
}

std::optional<double> Job::number(std::string_view name) const {
  const auto* const value = find(*core_, name, ParameterType::number);
  return value == nullptr ? std::nullopt : heistd::parse_number<double>(*value);
}

bool Job::flag(std::string_view name) const {
  const auto* const value = find(*core_, name, ParameterType::flag);
  return value != nullptr && *value == "1";
}

void Job::report_progress(double part) noexcept { core_->progress->report(part); }

const std::string& Job::id() const noexcept { return core_->id; }

std::uint32_t Job::attempt() const noexcept { return core_->attempt; }

const TaskSignal& Job::signal() const noexcept { return core_->signal; }

}  // namespace HEIST_NAMESPACE::jobs
