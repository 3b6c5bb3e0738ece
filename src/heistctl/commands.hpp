// The commands: each does its work by a client, and says how the program ends.
#pragma once

#include <heistctl/answers.hpp>
#include <heistctl/client.hpp>
#include <heistctl/failure.hpp>
#include <heistctl/options.hpp>
#include <heistctl/sink.hpp>
#include <memory>
#include <string>

namespace heistctl {

// All of them throw a Failure when they cannot be done.
ExitCode submit(Client& client, const Options& options);
ExitCode submit_bulk(Client& client, const Options& options);
ExitCode watch(Client& client, const Options& options);
ExitCode show(Client& client, const Options& options);
ExitCode print_result(Client& client, const Options& options);
ExitCode list(Client& client, const Options& options);
ExitCode retry(Client& client, const Options& options);
ExitCode abort_jobs(Client& client, const Options& options);
ExitCode erase_jobs(Client& client, const Options& options);
ExitCode set_priority(Client& client, const Options& options);
ExitCode change_signal(Client& client, const Options& options);
ExitCode set_pause(Client& client, const Options& options);
ExitCode top(Client& client, const Options& options);
ExitCode health(Client& client, const Options& options);
ExitCode drain(Client& client, const Options& options);

// What several of them do.

/// Aborts the job; one that has ended meanwhile stays. Errors: a Failure if it has.
Job abort_job(Client& client, const std::string& id);
/// Shows the job at the output until it has ended. Errors: a Failure after a Ctrl-C, which aborts
/// the job if it `aborts`.
Job follow(Client& client, const std::string& id, int output, bool aborts);
/// A result to come, in a file, or at the standard output without a path.
[[nodiscard]] std::unique_ptr<Sink> make_sink(const std::string& path);
/// Writes the result there.
void save_result(Client& client, const std::string& id, Sink& sink);

}  // namespace heistctl
