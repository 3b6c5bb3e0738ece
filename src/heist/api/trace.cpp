#include <heist/trace.hpp>
#include <optional>
#include <stdexcept>

#include "../concurrent/tracing.hpp"
#include "trace_files.hpp"

namespace HEIST_NAMESPACE {

namespace detail {

class TraceRun {
 public:
  explicit TraceRun(const TraceOptions& options)
      : begin_(TraceTime::now()),
        rings_(Tracing::start(options.events_per_thread, options.threads)) {}
  TraceRun(const TraceRun&) = delete;
  TraceRun& operator=(const TraceRun&) = delete;
  ~TraceRun() {
    if (!kept_) Tracing::stop();
  }

  void stop() {
    if (kept_) return;
    kept_.emplace();
    TracedEvents found = Tracing::stop_and_read(rings_);
    kept_ = {.found = std::move(found), .begin = begin_, .end = TraceTime::now()};
  }
  [[nodiscard]] TraceRecord record() const { return kept_ ? *kept_ : so_far(); }

 private:
  /// It ends before it is read: what a thread records later may have causes on threads that have
  /// been read already.
  [[nodiscard]] TraceRecord so_far() const {
    const TraceTime end = TraceTime::now();
    return {.found = Tracing::read(rings_), .begin = begin_, .end = end};
  }

  const TraceTime begin_;
  TraceRings& rings_;
  std::optional<TraceRecord> kept_;  ///< once it has stopped
};

namespace {

TraceOptions checked(TraceOptions options) {
  if (options.events_per_thread == 0) {
    throw std::invalid_argument("TraceOptions::events_per_thread: has to be one or more");
  }
  if (options.threads == 0) {
    throw std::invalid_argument("TraceOptions::threads: has to be one or more");
  }
  return options;
}

}  // namespace

}  // namespace detail

Trace::Trace(const TraceOptions& options)
    : run_(std::make_unique<detail::TraceRun>(detail::checked(options))) {}

Trace::~Trace() = default;

void Trace::stop() { run_->stop(); }

TraceCounts Trace::counts() const {
  const detail::TracedEvents found = run_->record().found;
  TraceCounts counts{.overwritten = found.overwritten, .without_thread = found.without_ring};
  for (const auto& of : found.threads) counts.events += of.events.size();
  return counts;
}

void Trace::write_perfetto(const std::string& path) const {
  detail::write_perfetto_file(run_->record(), path);
}

void Trace::write_json(const std::string& path) const {
  detail::write_json_file(run_->record(), path);
}

}  // namespace HEIST_NAMESPACE
