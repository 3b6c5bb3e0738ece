#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <array>
#include <chrono>
#include <heistd/prometheus_text.hpp>
#include <string_view>
#include <utility>

namespace heistd {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// A bucket of ours that has a bound of theirs within counts above it; it is narrow.
ClientMetric::Histogram histogram_of(const heist::Histogram& times) {
  ClientMetric::Histogram histogram;
  histogram.sample_count = times.count();
  histogram.sample_sum = seconds(times.sum());
  auto next = times.buckets().begin();
  std::uint64_t below = 0;
  for (const auto bound : metric_bounds) {
    for (; next != times.buckets().end() && next->to <= bound; ++next) below += next->count;
    histogram.bucket.push_back({below, seconds(bound)});
  }
  return histogram;
}

ClientMetric::Histogram histogram_of(const StartDelays::Counts& delays) {
  ClientMetric::Histogram histogram;
  histogram.sample_sum = seconds(delays.sum);
  auto next = delays.starts.begin();
  for (const auto bound : metric_bounds) {
    histogram.sample_count += *next++;
    histogram.bucket.push_back({histogram.sample_count, seconds(bound)});
  }
  histogram.sample_count += *next;
  return histogram;
}

/// A family that grows by one line, or one histogram, at a time.
class Family {
 public:
  Family(const char* name, const char* help, MetricType type) : family_{name, help, type, {}} {}

  void add(Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.counter.value = value;
    metric.gauge.value = value;
    family_.metric.push_back(std::move(metric));
  }
  void add(Labels labels, std::uint64_t value) {
    add(std::move(labels), static_cast<double>(value));
  }
  void add(Labels labels, std::chrono::nanoseconds value) {
    add(std::move(labels), seconds(value));
  }
  template <class Times>
    requires requires(const Times& times) { histogram_of(times); }
  void add(Labels labels, const Times& times) {
    ClientMetric metric;
    metric.label = std::move(labels);
    metric.histogram = histogram_of(times);
    family_.metric.push_back(std::move(metric));
  }
  void move_to(std::vector<MetricFamily>& families) { families.push_back(std::move(family_)); }

 private:
  MetricFamily family_;
};

constexpr std::array all_priorities = {heist::TaskPriority::user_blocking,
                                       heist::TaskPriority::user_visible,
                                       heist::TaskPriority::background};

std::string text_of(heist::TaskPriority priority) {
  return std::string(heist::to_string(priority));
}

/// One family of all six levels; `value_of` adds a level's value to it.
template <class AddLevel>
void add_levels(std::vector<MetricFamily>& families, const heist::LevelsMetrics& levels,
                Family family, AddLevel add_level) {
  for (const auto priority : all_priorities) {
    for (const bool is_continuation : {true, false}) {
      add_level(family,
                Labels{{"priority", text_of(priority)},
                       {"continuation", is_continuation ? "true" : "false"}},
                levels.of(priority, is_continuation));
    }
  }
  family.move_to(families);
}

template <class Member>
auto adds(Member member) {
  return [member](Family& family, Labels labels, const heist::LevelMetrics& level) {
    family.add(std::move(labels), level.*member);
  };
}

void add_tasks(std::vector<MetricFamily>& families, const heist::LevelsMetrics& levels) {
  using heist::LevelMetrics;
  add_levels(families, levels,
             {"heist_tasks_started_total", "Tasks that have started.", MetricType::Counter},
             adds(&LevelMetrics::run));
  add_levels(families, levels,
             {"heist_tasks_aborted_total", "Tasks that were aborted while they waited.",
              MetricType::Counter},
             adds(&LevelMetrics::aborted));
  add_levels(families, levels,
             {"heist_tasks_rejected_total", "Tasks that a close has dropped while they waited.",
              MetricType::Counter},
             adds(&LevelMetrics::rejected));
  add_levels(
      families, levels,
      {"heist_tasks_waiting", "Tasks that could start, and wait for an agent.", MetricType::Gauge},
      adds(&LevelMetrics::waiting));
  add_levels(families, levels,
             {"heist_task_wait_seconds", "How long sampled tasks waited before they started.",
              MetricType::Histogram},
             adds(&LevelMetrics::wait_time));
  add_levels(families, levels,
             {"heist_task_run_seconds", "How long sampled tasks ran.", MetricType::Histogram},
             adds(&LevelMetrics::run_time));
  add_levels(families, levels,
             {"heist_oldest_task_wait_seconds",
              "For how long the oldest sampled task waits that follows no signal; 0 if none does.",
              MetricType::Gauge},
             [](Family& family, Labels labels, const LevelMetrics& level) {
               family.add(std::move(labels),
                          level.oldest_waiting.value_or(std::chrono::nanoseconds{}));
             });
}

/// One family of all agents.
template <class ValueOf>
void add_agents(std::vector<MetricFamily>& families, const heist::ClusterMetrics& metrics,
                Family family, ValueOf value_of) {
  for (std::size_t i = 0; i < metrics.agents.size(); ++i) {
    family.add(Labels{{"agent", std::to_string(i + 1)}}, value_of(metrics.agents[i]));
  }
  family.move_to(families);
}

std::chrono::nanoseconds time_of_running(const heist::LoopMetrics& agent) {
  if (!agent.running) return {};
  return agent.running->running_for.value_or(std::chrono::nanoseconds{});
}

void add_agents(std::vector<MetricFamily>& families, const heist::ClusterMetrics& metrics) {
  using heist::LoopMetrics;
  add_agents(families, metrics,
             {"heist_agent_tasks_total", "Tasks and continuations that the agent has run.",
              MetricType::Counter},
             [](const LoopMetrics& agent) { return agent.tasks_run; });
  add_agents(families, metrics,
             {"heist_agent_stolen_total", "Those of them that it took from other agents.",
              MetricType::Counter},
             [](const LoopMetrics& agent) { return agent.stolen; });
  add_agents(
      families, metrics,
      {"heist_agent_wakeups_total", "System calls that were made to wake it.", MetricType::Counter},
      [](const LoopMetrics& agent) { return agent.wakeups_sent; });
  add_agents(families, metrics,
             {"heist_agent_asleep_seconds_total", "How long it has slept.", MetricType::Counter},
             [](const LoopMetrics& agent) { return agent.asleep; });
  add_agents(families, metrics,
             {"heist_agent_running", "1 while it runs a task, else 0.", MetricType::Gauge},
             [](const LoopMetrics& agent) { return std::uint64_t{agent.running.has_value()}; });
  add_agents(
      families, metrics,
      {"heist_agent_running_seconds",
       "For how long the task runs that it is at, if that is sampled or has a label; else 0.",
       MetricType::Gauge},
      &time_of_running);
}

void add_delays(std::vector<MetricFamily>& families, const heist::ClusterMetrics& metrics) {
  Family delayed("heist_tasks_delayed", "Tasks that wait for their time.", MetricType::Gauge);
  delayed.add({}, metrics.delayed);
  delayed.move_to(families);
  Family lateness("heist_timer_lateness_seconds", "How late delays ended, beyond their tick.",
                  MetricType::Histogram);
  lateness.add({}, metrics.timer_lateness);
  lateness.move_to(families);
}

Labels labels_of(const JobFigures& jobs, const char* name, const char* value) {
  return {{"client", jobs.client}, {"priority", text_of(jobs.priority)}, {name, value}};
}

void add_jobs(std::vector<MetricFamily>& families, const std::vector<JobFigures>& all) {
  Family unfinished("heistd_jobs", "Unfinished jobs.", MetricType::Gauge);
  Family oldest("heistd_oldest_job_wait_seconds",
                "For how long the job waits that has waited for longest and could start; 0 if none "
                "does.",
                MetricType::Gauge);
  Family finished("heistd_jobs_total", "Jobs that have ended.", MetricType::Counter);
  Family retried("heistd_retries_total", "Failed attempts of jobs that were tried again.",
                 MetricType::Counter);
  Family delay("heistd_job_queue_delay_seconds",
               "How long jobs waited from when they could start until they did, of each attempt.",
               MetricType::Histogram);
  for (const auto& jobs : all) {
    unfinished.add(labels_of(jobs, "state", "queued"), jobs.unfinished.queued);
    unfinished.add(labels_of(jobs, "state", "running"), jobs.unfinished.running);
    unfinished.add(labels_of(jobs, "state", "delayed"), jobs.unfinished.delayed);
    finished.add(labels_of(jobs, "outcome", "done"), jobs.done);
    finished.add(labels_of(jobs, "outcome", "failed"), jobs.failed);
    finished.add(labels_of(jobs, "outcome", "aborted"), jobs.aborted);
    finished.add(labels_of(jobs, "outcome", "dead"), jobs.dead);
    const Labels labels = {{"client", jobs.client}, {"priority", text_of(jobs.priority)}};
    oldest.add(labels, jobs.longest_wait);
    retried.add(labels, jobs.retried);
    delay.add(labels, jobs.queue_delay);
  }
  unfinished.move_to(families);
  oldest.move_to(families);
  finished.move_to(families);
  retried.move_to(families);
  delay.move_to(families);
}

void add_failures(std::vector<MetricFamily>& families, const JournalFailures& failures) {
  Family failed("heistd_journal_failures_total",
                "What the journal was asked for and could not do, by why; much of it is tried "
                "again.",
                MetricType::Counter);
  for (std::size_t i = 0; i < journal_faults; ++i) {
    const auto fault = static_cast<JournalFault>(i);
    failed.add({{"fault", std::string(name_of(fault))}}, failures.of(fault));
  }
  failed.move_to(families);
}

void add_disk(std::vector<MetricFamily>& families, const JobJournal::Disk& disk) {
  Family commits("heistd_journal_commit_seconds",
                 "How long it took until the disk had a transaction of the journal, or could not "
                 "take it.",
                 MetricType::Histogram);
  commits.add({}, disk.commit_time);
  commits.move_to(families);
  Family bytes("heistd_journal_bytes", "Bytes of the journal's files.", MetricType::Gauge);
  bytes.add({}, disk.bytes);
  bytes.move_to(families);
  Family free("heistd_journal_free_bytes", "Bytes that the disk of the journal has left.",
              MetricType::Gauge);
  if (disk.free_bytes) free.add({}, *disk.free_bytes);
  free.move_to(families);
  Family dropped("heistd_journal_dead_dropped_total",
                 "Dead jobs that were forgotten as finished jobs were too old, or too many bytes.",
                 MetricType::Counter);
  dropped.add({}, disk.dropped_dead);
  dropped.move_to(families);
}

std::string text_of(CommandFailures::Why why) {
  switch (why) {
    case CommandFailures::Why::not_started:
      return "not_started";
    case CommandFailures::Why::timeout:
      return "timeout";
    case CommandFailures::Why::output:
      break;
  }
  return "output";
}

void add_commands(std::vector<MetricFamily>& families, const std::vector<CommandFigures>& all) {
  Family failed("heistd_command_failures_total",
                "Programs that could not be started, or were killed for a limit, by which.",
                MetricType::Counter);
  for (const auto& command : all) {
    for (const auto why : CommandFailures::all) {
      failed.add({{"kind", command.kind}, {"why", text_of(why)}}, command.failures->of(why));
    }
  }
  failed.move_to(families);
}

void add_certificate(std::vector<MetricFamily>& families, std::chrono::sys_seconds end) {
  Family expiry("heistd_tls_certificate_expiry_timestamp_seconds",
                "Until when clients accept the certificate of new connections, as Unix time.",
                MetricType::Gauge);
  expiry.add({}, static_cast<double>(end.time_since_epoch().count()));
  expiry.move_to(families);
}

void add_stored_uploads(std::vector<MetricFamily>& families,
                        const std::vector<ClientFigures>& all) {
  Family stored("heistd_stored_upload_bytes",
                "Bytes of uploads of a client's unfinished jobs that the journal has, or is about "
                "to get.",
                MetricType::Gauge);
  for (const auto& client : all) stored.add({{"client", client.client}}, client.stored_uploads);
  stored.move_to(families);
}

/// Limits that there are not are left out.
void add_limits(Family& family, const ClientFigures& client) {
  const auto add = [&](const char* limit, double value) {
    if (value > 0) family.add(Labels{{"client", client.client}, {"limit", limit}}, value);
  };
  const auto& limits = client.limits;
  add("rate", static_cast<double>(limits.rate) / static_cast<double>(limits.per.count()));
  add("burst", limits.rate > 0 ? limits.most_at_once() : 0);
  add("running", limits.running);
  add("weight", limits.weight);
}

void add_clients(std::vector<MetricFamily>& families, const std::vector<ClientFigures>& all) {
  Family limits("heistd_client_limit",
                "What a client is granted: jobs that it posts, a second and at once, jobs that run "
                "at a time, and the weight of its turns.",
                MetricType::Gauge);
  Family refused("heistd_rate_limited_total",
                 "Requests that were refused as the client's rate was used up.",
                 MetricType::Counter);
  for (const auto& client : all) {
    add_limits(limits, client);
    refused.add({{"client", client.client}}, client.rate_limited);
  }
  limits.move_to(families);
  refused.move_to(families);
}

}  // namespace

Figures figures_of(const ClientTable& clients, const KindTable& kinds, const JobKeeper* keeper) {
  Figures figures;
  for (const auto& [name, kind] : kinds.all()) {
    if (kind.failures) figures.commands.push_back({name, kind.failures});
  }
  if (keeper != nullptr) figures.journal_failures = keeper->failures();
  for (const auto& client : clients.all()) {
    figures.clients.push_back(
        {client->name, client->limits(), client->rate_limited, client->budget->stored_bytes()});
    const auto depths = client->depths();
    const auto waits = client->longest_waits();
    for (const auto priority : all_priorities) {
      const auto level = static_cast<std::size_t>(priority);
      const auto& stats = client->stats_of(priority);
      figures.jobs.push_back({client->name, priority, depths.at(level), waits.at(level), stats.done,
                              stats.failed, stats.aborted, stats.retried, stats.dead,
                              client->start_delays->at(level).look()});
    }
  }
  return figures;
}

std::string prometheus_text(const heist::ClusterMetrics& metrics, const Figures& figures) {
  std::vector<MetricFamily> families;
  add_jobs(families, figures.jobs);
  add_clients(families, figures.clients);
  if (figures.journal_failures) add_failures(families, *figures.journal_failures);
  if (figures.disk) {
    add_disk(families, *figures.disk);
    add_stored_uploads(families, figures.clients);
  }
  if (!figures.commands.empty()) add_commands(families, figures.commands);
  if (figures.certificate_end) add_certificate(families, *figures.certificate_end);
  add_tasks(families, metrics.levels);
  add_delays(families, metrics);
  add_agents(families, metrics);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace heistd
