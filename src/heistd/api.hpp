// Api: what the server answers, without sockets.
#pragma once

#include <cstdint>
#include <heistd/job_service.hpp>
#include <heistd/query.hpp>
#include <heistd/reply.hpp>
#include <heistd/routes.hpp>
#include <heistd/upload.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

namespace heistd {

/// What of a request's head matters.
struct RequestHead {
  std::string_view method;
  std::string_view target;
  std::optional<std::string_view> authorization;
  std::optional<std::uint64_t> content_length;
  bool chunked = false;

  [[nodiscard]] bool has_body() const noexcept { return chunked || content_length.value_or(0) > 0; }
};

/// A job that the client wants to wait for.
struct Waiting {
  Client* client;
  std::shared_ptr<Job> job;
};

/// Answers requests. A request is judged by its head alone, before any of its body is read.
///
/// Thread: the network's.
class Api {
 public:
  Api(ClientTable& clients, JobService& service, const Limits& limits) noexcept
      : clients_(clients), service_(service), limits_(limits) {}

  /// The answer, or an upload to be filled and given to finish().
  [[nodiscard]] std::variant<Reply, Upload> begin(const RequestHead& head);

  /// The answer, or a job whose end decides the answer.
  [[nodiscard]] std::variant<Reply, Waiting> finish(Upload upload);

  /// The answer to whoever waited.   Precondition: the job has finished.
  [[nodiscard]] Reply waited(const Job& job) const;

  /// Whoever waited has gone.
  void abandon(const Waiting& waiting);

 private:
  using Handled = Result<Reply>;

  Result<std::variant<Reply, Upload>> handle(const RequestHead& head);
  Handled handle_plain(const Route& route, Client& client);
  Result<Upload> begin_upload(const Route& route, const RequestHead& head, const Target& target,
                              Client& client);
  Handled health(const Target& target) const;
  Handled job(const Route& route, Client& client);
  Handled erase_job(const std::shared_ptr<Job>& job, Client& client);
  Handled job_result(const Route& route, Client& client) const;
  Handled put_signal(const Route& route, const Target& target, Client& client);
  Handled erase_signal(const Route& route, Client& client);

  ClientTable& clients_;
  JobService& service_;
  const Limits& limits_;
};

}  // namespace heistd
