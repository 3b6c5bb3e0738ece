// Texts for people: times, sizes, jobs, figures.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <heistctl/answers.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heistctl {

/// Without what could command a terminal: texts of jobs come from anybody.
[[nodiscard]] std::string printable(std::string_view text);
/// Why something was refused: "bad_parameter (delay): must be ..."
[[nodiscard]] std::string refusal_text(const Refusal& refusal);
/// 1.5 ms, 30 s, 2 m 05 s
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds time);
/// 512 B, 1.5 MiB
[[nodiscard]] std::string size_text(std::uint64_t bytes);
/// "sending 1.5 MiB of 4.0 MiB"
[[nodiscard]] std::string transfer_line(std::string_view verb, std::int64_t done, std::int64_t all);

/// What a job is at, on one line: where nothing can be overwritten.
[[nodiscard]] std::string job_line(const Job& job);
/// The same with a bar, if the job reports its progress, on a terminal that is so wide.
[[nodiscard]] std::string progress_line(const Job& job, std::chrono::nanoseconds watched,
                                        std::size_t width);
/// All that is known of a job, a line each.
[[nodiscard]] std::string job_text(const Job& job);
/// A job in a list: in columns for people, or with tabs for programs.
[[nodiscard]] std::string list_line(const Job& job, bool in_columns);
[[nodiscard]] std::string list_head();

/// The figures of all levels, a line each. With those of a while ago there are rates, too.
[[nodiscard]] std::string stats_table(const Stats& now, const std::optional<Stats>& before,
                                      std::chrono::nanoseconds between);

}  // namespace heistctl
