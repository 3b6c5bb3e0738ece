// Server: runs jobs of a program's own kinds, by priority, for clients that ask by HTTP.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <heist/detail/export.hpp>
#include <heist/jobs/job.hpp>
#include <heist/jobs/parameter.hpp>
#include <heist/jobs/result.hpp>
#include <heist/promise.hpp>
#include <heist/version.hpp>
#include <memory>
#include <source_location>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace HEIST_NAMESPACE::jobs {

namespace detail {
struct ServerCore;
}  // namespace detail

/// Does the work of one job.
using Handler = std::function<Promise<Result>(Job)>;

/// What may be called as a handler: a coroutine or a function, called by several agents at a time.
template <class Callable>
concept JobHandler = std::invocable<const Callable&, Job> &&
                     (std::same_as<std::invoke_result_t<const Callable&, Job>, Promise<Result>> ||
                      std::convertible_to<std::invoke_result_t<const Callable&, Job>, Result>);

/// What a server needs to know of a kind besides its handler.
struct KindOptions {
  std::vector<Parameter> parameters = {};  ///< others than these are refused
  /// What a handler keeps while it waits, beyond the upload. Each unfinished job counts so much
  /// (`--max-queued-bytes`).
  std::size_t memory = 0;
  /// A larger result fails the job (`result_too_large`).
  std::size_t max_result_bytes = std::size_t{16} << 20U;
};

/// The server that heistd is, with kinds of jobs that a program registers.
///
/// Thread: the one that made it.
class HEIST_EXPORT Server {
 public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Registers a kind: requests `POST /jobs/NAME` call the handler, which is a coroutine or a
  /// function. What it throws fails its job, and nothing else. It lives as long as the server, and
  /// its captures with it.
  ///
  /// Errors: std::invalid_argument when the name or a parameter's cannot be used, or is taken, or
  ///         the handler is empty.
  template <JobHandler Callable>
  void kind(std::string name, Callable handler, KindOptions options = {},
            std::source_location where = std::source_location::current()) {
    using Given = std::invoke_result_t<const Callable&, Job>;
    if constexpr (std::same_as<Given, Promise<Result>>) {
      add(std::move(name), std::move(handler), std::move(options), where);
    } else {
      add(
          std::move(name),
          [handler = std::move(handler)](Job job) {
            return Promise<Result>::resolved(std::invoke(handler, std::move(job)));
          },
          std::move(options), where);
    }
  }

  /// Reads heistd's options from the command line, listens, and serves until SIGTERM or SIGINT ends
  /// it; what `main` is to return. SIGPIPE is ignored from then on. SIGHUP has it read its files
  /// again (`--config`, `--client-file`, those of TLS, `--job-log`), and is ignored without any.
  ///
  /// Blocks: until then, and for what handlers wait for, until `--drain-deadline` is over.
  /// Precondition: no handler waits for something that settles after this has returned. Whatever a
  /// handler waits for is to end when the job's signal is aborted, as it is then at the latest.
  [[nodiscard]] int run(int argc, const char* const* argv);

 private:
  friend struct heist::detail::Access;
  [[nodiscard]] detail::ServerCore& core() const noexcept { return *core_; }
  void add(std::string name, Handler handler, KindOptions options, std::source_location where);

  const std::unique_ptr<detail::ServerCore> core_;
};

}  // namespace HEIST_NAMESPACE::jobs
