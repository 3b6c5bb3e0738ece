// What the text for Prometheus says of times.
#include <gmock/gmock.h>

#include <heistd/prometheus_text.hpp>

namespace heistd {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const heist::Histogram& wait_time) {
  heist::ClusterMetrics metrics;
  metrics.levels.of(heist::TaskPriority::user_blocking).wait_time = wait_time;
  return prometheus_text(metrics, {});
}

std::string bucket(const char* bound, int count) {
  return "heist_task_wait_seconds_bucket{priority=\"user-blocking\",continuation=\"false\",le=\"" +
         std::string(bound) + "\"} " + std::to_string(count) + "\n";
}

TEST(PrometheusText, histogram_when_times_are_spread_then_each_bound_counts_what_is_below) {
  const auto text = text_of({{{microseconds(9), microseconds(10), 2},
                              {microseconds(90), microseconds(110), 3},
                              {milliseconds(900'000), milliseconds(1'000'000), 1}},
                             milliseconds(900'000)});
  EXPECT_THAT(text, HasSubstr(bucket("5e-06", 0)));
  EXPECT_THAT(text, HasSubstr(bucket("1e-05", 2)));
  EXPECT_THAT(text, HasSubstr(bucket("0.0001", 2))) << "a bucket across a bound counts above it";
  EXPECT_THAT(text, HasSubstr(bucket("0.00025", 5)));
  EXPECT_THAT(text, HasSubstr(bucket("600", 5)));
  EXPECT_THAT(text, HasSubstr(bucket("+Inf", 6)));
  EXPECT_THAT(text, HasSubstr("heist_task_wait_seconds_sum{priority=\"user-blocking\","
                              "continuation=\"false\"} 900\n"));
}

TEST(PrometheusText, queue_delay_then_each_bound_counts_what_is_not_longer) {
  StartDelays delays;
  for (const auto delay : {microseconds(10), microseconds(11), microseconds(700'000'000)}) {
    delays.add(delay);
  }
  Figures figures;
  auto& jobs = figures.jobs.emplace_back();
  jobs.client = "a";
  jobs.priority = heist::TaskPriority::background;
  jobs.queue_delay = delays.look();
  const auto text = prometheus_text({}, figures);
  const std::string name = "heistd_job_queue_delay_seconds_";
  const std::string labels = "{client=\"a\",priority=\"background\"";
  for (const char* bound :
       {"\"5e-06\"} 0\n", "\"1e-05\"} 1\n", "\"2.5e-05\"} 2\n", "\"600\"} 2\n", "\"+Inf\"} 3\n"}) {
    EXPECT_THAT(text, HasSubstr(name + "bucket" + labels + ",le=" + bound));
  }
  EXPECT_THAT(text, HasSubstr(name + "count" + labels + "} 3\n"));
  EXPECT_THAT(text, HasSubstr(name + "sum" + labels + "} 700.00002"));
}

TEST(PrometheusText, labels_when_they_have_quotes_then_these_are_escaped) {
  Figures figures;
  auto& jobs = figures.jobs.emplace_back();
  jobs.client = "a\"b\\";
  jobs.priority = heist::TaskPriority::background;
  jobs.aborted = 3;
  const auto text = prometheus_text({}, figures);
  EXPECT_THAT(text, HasSubstr("heistd_jobs_total{client=\"a\\\"b\\\\\",priority=\"background\","
                              "outcome=\"aborted\"} 3\n"));
}

TEST(PrometheusText, journal_when_there_is_one_then_its_failures_commits_and_bytes_are_told) {
  Figures figures;
  EXPECT_THAT(prometheus_text({}, figures), Not(HasSubstr("heistd_journal")));
  figures.journal_failures.emplace().note(JournalFault::disk_full);
  figures.disk = {{{{milliseconds(2), milliseconds(3), 7}}, milliseconds(16)}, 4096, 8192};
  const auto text = prometheus_text({}, figures);
  for (const char* line : {"heistd_journal_failures_total{fault=\"disk_full\"} 1\n",
                           "heistd_journal_failures_total{fault=\"unknown_outcome\"} 0\n",
                           "heistd_journal_commit_seconds_bucket{le=\"0.0025\"} 0\n",
                           "heistd_journal_commit_seconds_bucket{le=\"0.005\"} 7\n",
                           "heistd_journal_commit_seconds_sum 0.016\n",
                           "heistd_journal_bytes 4096\n", "heistd_journal_free_bytes 8192\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

TEST(PrometheusText, commands_when_there_are_any_then_their_failures_are_told_by_why) {
  Figures figures;
  EXPECT_THAT(prometheus_text({}, figures), Not(HasSubstr("heistd_command")));
  const auto failures = std::make_shared<CommandFailures>();
  for (int time = 0; time < 2; ++time) failures->note(CommandFailures::Why::output);
  figures.commands.push_back({"nap", failures});
  const auto text = prometheus_text({}, figures);
  const std::string name = "heistd_command_failures_total{kind=\"nap\",why=";
  for (const char* line : {"\"not_started\"} 0\n", "\"timeout\"} 0\n", "\"output\"} 2\n"}) {
    EXPECT_THAT(text, HasSubstr(name + line));
  }
}

TEST(PrometheusText, certificate_when_there_is_tls_then_until_when_it_is_valid) {
  Figures figures;
  EXPECT_THAT(prometheus_text({}, figures), Not(HasSubstr("heistd_tls")));
  figures.certificate_end = std::chrono::sys_days{std::chrono::year{2030} / 1 / 1};
  EXPECT_THAT(prometheus_text({}, figures),
              HasSubstr("heistd_tls_certificate_expiry_timestamp_seconds 1893456000\n"));
}

}  // namespace
}  // namespace heistd
