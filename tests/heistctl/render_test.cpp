#include <gtest/gtest.h>

#include <heistctl/render.hpp>

namespace heistctl {
namespace {

using namespace std::chrono_literals;

Job running_job() {
  Job job;
  job.id = "0123456789abcdef0123456789abcdef";
  job.kind = "digest";
  job.state = "running";
  job.priority = "background";
  return job;
}

TEST(Render, printable_when_a_text_could_command_a_terminal_then_it_cannot) {
  EXPECT_EQ(printable("a\x1b[2Jb\tc\nd\x7f"), "a?[2Jb\tc\nd?");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J, \xc3\xa9"),
            "?2J, \xc3\xa9");
}

TEST(Render, duration_when_it_grows_then_its_units_do) {
  EXPECT_EQ(duration_text(1500ns), "2 us");
  EXPECT_EQ(duration_text(1500us), "1.5 ms");
  EXPECT_EQ(duration_text(30s), "30 s");
  EXPECT_EQ(duration_text(125s), "2 m 05 s");
  EXPECT_EQ(duration_text(3h + 4min), "3 h 04 m");
}

TEST(Render, size_when_it_grows_then_its_units_do) {
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.5 KiB");
  EXPECT_EQ(size_text(std::uint64_t{5} << 50U), "5120.0 TiB");
}

TEST(Render, progress_line_when_the_job_reports_it_then_a_bar_fills_the_width) {
  auto job = running_job();
  job.progress = 0.5;
  const auto line = progress_line(job, 12s, 80);
  EXPECT_EQ(line.size(), 79U);
  EXPECT_NE(line.find("[=============>            ] 50 % 12 s"), std::string::npos) << line;
}

TEST(Render, progress_line_when_the_terminal_is_narrow_then_there_is_no_bar) {
  auto job = running_job();
  job.progress = 2;
  EXPECT_EQ(progress_line(job, 1s, 40), job.id + " running  100 % 1 s");
}

TEST(Render, job_line_when_the_job_has_failed_then_it_says_why) {
  auto job = running_job();
  job.state = "failed";
  job.queue_delay_us = 1500;
  job.run_time_us = 2'000'000;
  job.error_code = "line_too_long";
  job.error_message = "a line";
  EXPECT_EQ(job_line(job), job.id + " failed, waited 1.5 ms, ran 2 s, line_too_long: a line");
}

TEST(Render, list_line_when_programs_read_it_then_it_has_tabs) {
  EXPECT_EQ(list_line(running_job(), false),
            "0123456789abcdef0123456789abcdef\tdigest\trunning\tbackground\t0\t\n");
}

TEST(Render, stats_table_when_there_are_older_figures_then_it_has_rates) {
  Stats before{.client = "anonymous", .levels = {{.priority = "background", .done = 10}}};
  Stats now{.client = "anonymous", .levels = {{.priority = "background", .done = 15}}};
  EXPECT_NE(stats_table(now, before, 2s).find(" 2.5 "), std::string::npos);
  EXPECT_EQ(stats_table(now, std::nullopt, 2s).find(" 2.5 "), std::string::npos);
}

TEST(Render, stats_table_when_figures_are_usual_then_it_fits_into_80_columns) {
  const Stats now{.client = "anonymous",
                  .levels = {{.priority = "user-blocking", .queued = 16384, .dead = 17}}};
  const auto table = stats_table(now, now, 1s);
  for (std::string_view rest = table; !rest.empty();) {
    const auto end = rest.find('\n');
    EXPECT_LT(end, 80U);
    rest.remove_prefix(end + 1);
  }
  EXPECT_NE(table.find(" 17 "), std::string::npos);
}

}  // namespace
}  // namespace heistctl
