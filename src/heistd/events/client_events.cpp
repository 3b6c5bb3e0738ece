#include <heistd/events/client_events.hpp>
#include <heistd/events/event_stream.hpp>
#include <heistd/job.hpp>
#include <heistd/job_text.hpp>
#include <heistd/json.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <new>
#include <utility>

namespace heistd {
namespace {

/// Another one for each log, in this server and the next.
std::string log_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

}  // namespace

ClientEvents::Open::Open() : log(log_name()), next_levels(Clock::now() + levels_interval) {}

/// What is more in one interval than listeners can be given after it, they hear that they have
/// missed.
template <class Make>
void ClientEvents::tell(std::string_view type, Make make) noexcept {
  if (!open_) return;
  if (++open_->told > EventLog::most_events) return open_->log.lose();
  add(type, make);
}

/// Without memory to say what has happened, it is missed as well.
template <class Make>
void ClientEvents::add(std::string_view type, Make make) noexcept {
  try {
    const NetworkReserve::Withheld only_what_is_left;
    const std::optional<std::string> data = MemoryReserve::guard(make);
    if (data) open_->log.add(type, *data);
  } catch (const std::bad_alloc&) {
    open_->log.lose();
  }
}

void ClientEvents::job_changed(const Job& job) noexcept {
  tell("job", [&job] { return event_text(job); });
}

void ClientEvents::job_changed(const JobSummary& job) noexcept {
  tell("job", [&job] { return summary_text(job); });
}

void ClientEvents::missed() noexcept {
  if (open_) open_->log.lose();
}

void ClientEvents::job_forgotten(const JobId& id) noexcept {
  tell("forgotten", [&id] { return line({{"id", id}}); });
}

void ClientEvents::job_waited(heist::TaskPriority started_at,
                              std::chrono::nanoseconds delay) noexcept {
  if (open_) open_->delays.at(static_cast<std::size_t>(started_at)).add(delay);
}

void ClientEvents::signal_changed(std::string_view name, const SignalGroup& group) noexcept {
  tell("signal", [&] { return line(signal_json(name, group)); });
}

void ClientEvents::signal_deleted(std::string_view name) noexcept {
  tell("signal_deleted", [name] { return line({{"signal", name}}); });
}

void ClientEvents::kind_changed(const Kind& kind) noexcept {
  tell("kind", [&] { return line(kind_json(kind, client_)); });
}

std::unique_ptr<EventStream> ClientEvents::listen(std::optional<std::string_view> last_id) {
  const NetworkReserve::Withheld only_what_is_left;
  if (!open_) {
    auto open = std::make_unique<Open>();
    changed->listen(ChangedJobs::make_room());
    open_ = std::move(open);
  }
  const auto known = last_id ? open_->log.number_after(*last_id) : std::nullopt;
  auto stream =
      std::make_unique<EventStream>(*this, known.value_or(open_->log.next()), last_id && !known);
  tell_levels();
  stream->wake();
  return stream;
}

void ClientEvents::beat(Clock::time_point now) noexcept {
  if (!open_) return;
  open_->told = 0;
  tell_changed_jobs();
  if (now >= open_->next_levels) {
    open_->next_levels = now + levels_interval;
    tell_changed_levels();
    for (auto& delays : open_->delays) delays.clear();
  }
  for (auto* const stream : open_->streams) stream->wake();
  if (!open_->streams.empty()) {
    open_->until = now + patience;
  } else if (now >= open_->until) {
    close();
  }
}

/// Of a job that has ended meanwhile its end has been told.
void ClientEvents::tell_changed_jobs() noexcept {
  if (!changed->exchange(open_->room)) open_->log.lose();
  for (const auto& noted : open_->room) {
    const auto job = noted.lock();
    if (job && !job->finished()) job_changed(*job);
  }
  open_->room.clear();
}

void ClientEvents::tell_levels() noexcept {
  add("levels", [this] {
    open_->levels = line(levels_json(client_, open_->delays));
    return open_->levels;
  });
}

void ClientEvents::tell_changed_levels() noexcept {
  add("levels", [this]() -> std::optional<std::string> {
    auto levels = line(levels_json(client_, open_->delays));
    if (levels == open_->levels) return std::nullopt;
    open_->levels = levels;
    return levels;
  });
}

void ClientEvents::end_streams(std::string_view why) noexcept {
  if (!open_) return;
  for (auto* const stream : open_->streams) stream->end(why);
}

void ClientEvents::close() noexcept {
  changed->stop();
  open_.reset();
}

}  // namespace heistd
