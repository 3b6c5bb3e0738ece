// Api: what the server answers, without sockets.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <heistd/connections.hpp>
#include <heistd/events/event_stream.hpp>
#include <heistd/job_service.hpp>
#include <heistd/kind_table.hpp>
#include <heistd/list_cursor.hpp>
#include <heistd/observer.hpp>
#include <heistd/patience.hpp>
#include <heistd/query.hpp>
#include <heistd/reply.hpp>
#include <heistd/result_range.hpp>
#include <heistd/routes.hpp>
#include <heistd/upload.hpp>
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace heistd {

/// What of a request's head matters.
struct RequestHead {
  std::string_view method;
  std::string_view target;
  std::optional<std::string_view> authorization;
  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  Connections::Place* place = nullptr;  ///< of its connection; null: it has none, and needs none
  std::optional<std::string_view> idempotency_key = {};
  std::optional<std::string_view> last_event_id = {};
  std::string_view request_id = {};
  std::optional<std::string_view> range = {};
  std::optional<std::string_view> if_range = {};

  [[nodiscard]] bool has_body() const noexcept { return chunked || content_length.value_or(0) > 0; }
};

/// What a request is about.
struct Routed {
  Target target;
  Route route;
};

/// A job that the client wants to wait for.
struct Waiting {
  /// What the reply is about.
  enum class For : std::uint8_t { result, description };

  Client* client;
  std::shared_ptr<Job> job;
  Quota::Share share;  ///< of those that wait at a time
  Patience patience;
  For reply = For::result;
};

/// An agent is to check the parameters before the request can be judged, or the journal the job
/// that it is to follow.
struct Checking {
  heist::Promise<void> verdict;
  /// Where a refusal may stand by then, which is the answer; or null.
  std::shared_ptr<const std::optional<Refusal>> refusal = {};
};

/// A thread makes the reply, which takes a while.
struct Observing {
  std::shared_ptr<Observation> observation;
};

/// The client listens to its events.
struct Listening {
  std::shared_ptr<EventStream> stream;
};

/// The journal is to have it before it takes effect, or knows the answer.
struct Storing {
  heist::Promise<void> answered;
  /// Once the journal has answered.
  std::function<std::variant<Reply, Waiting, Storing>()> then;
};

/// How the operator has the server end.
struct ServerEnd {
  std::function<void()> begin;                      ///< as SIGTERM does; called once
  std::function<std::chrono::milliseconds()> left;  ///< until it ends whatever is left
};

/// What to do with a request whose parameters no agent has checked.
enum class Unchecked : std::uint8_t { check, accept };

/// Answers requests. A request is judged by its head alone, before any of its body is read.
///
/// Thread: the network's, but for route().
class Api {
 public:
  Api(const KindTable& kinds, ClientTable& clients, JobService& service, Observer& observer,
      const Limits& limits)
      : kinds_(kinds), clients_(clients), service_(service), observer_(observer), limits_(limits) {}

  void set_end(ServerEnd end) { end_ = std::move(end); }

  /// What the request is about; or the answer, where that does not depend on who asks.
  ///
  /// Thread: any.
  using Routing = std::variant<Reply, Routed>;
  [[nodiscard]] Routing route(const RequestHead& head) const;

  /// The answer, or what will have it; or an upload to be filled and given to finish(); or
  /// something to wait for (not for ever: agents may have more urgent things to do), and then,
  /// unless it has a refusal, to call this again and accept.
  using Step = std::variant<Reply, Upload, Checking, Observing, Storing, Waiting, Listening>;
  [[nodiscard]] Step begin(const RequestHead& head, const Routed& routed,
                           Unchecked unchecked = Unchecked::check);

  /// The answer, or a job whose end decides the answer, or something to wait for first.
  using Outcome = std::variant<Reply, Waiting, Storing>;
  [[nodiscard]] Outcome finish(Upload upload);

  /// The answer to whoever waited for its end.   Precondition: the job has finished.
  [[nodiscard]] Reply waited(const Job& job) const;
  /// The answer to whoever has waited, perhaps only for as long as it wanted to.
  [[nodiscard]] Reply waited(const Waiting& waiting) const;

  /// Whoever waited has gone.
  void drop(const Waiting& waiting);

 private:
  using Handled = Result<Reply>;

  [[nodiscard]] Result<Routing> find(const RequestHead& head) const;
  Result<Step> handle(const RequestHead& head, const Routed& routed, Unchecked unchecked);
  Handled handle_plain(const Route& route, Client& client);
  Result<Step> begin_upload(const Route& route, const RequestHead& head, const Target& target,
                            Client& client, Unchecked unchecked);
  Result<Budget::Ticket> take_job(const Client& client) const;
  Result<Step> announce(const RequestHead& head, Upload upload) const;
  struct Bulk;
  Result<Step> begin_bulk(const RequestHead& head, const Target& target, Client& client);
  Outcome finish_bulk(Upload upload);
  Storing later(const std::shared_ptr<Bulk>& bulk,
                Outcome (Api::*step)(const std::shared_ptr<Bulk>&));
  Outcome judge_some(const std::shared_ptr<Bulk>& bulk);
  std::optional<Refusal> take_on(Bulk& bulk, std::size_t index);
  Outcome begin_all(const std::shared_ptr<Bulk>& bulk);
  Outcome begin_some(const std::shared_ptr<Bulk>& bulk);
  void begin_one(Bulk& bulk, std::size_t index);
  Outcome end_bulk(const std::shared_ptr<Bulk>& bulk);
  std::optional<Result<Step>> judge_parameters(Client& client, const JobRequest& request,
                                               Unchecked unchecked);
  std::optional<Result<Step>> judge_predecessor(Client& client, const JobId& id,
                                                Unchecked unchecked);
  Checking check_predecessor(const Client& client, const JobId& id);
  Result<Step> serve_operator(const Route& route, const Target& target, const Client& client);
  Result<Step> observe(const Route& route, const Target& target);
  Result<Step> drain(const Route& route, const Target& target);
  Result<Step> listen(const RequestHead& head, const Target& target, Client& client);
  Result<Step> set_pause(const Route& route, const Target& target, Client& client);
  Handled set_pause(const Route& route, Client& client);
  [[nodiscard]] Reply kinds_reply(const Client& client) const;
  static Reply signals_reply(const Client& client);
  Handled for_all(const Route& route) const;
  Handled erase_job(const Route& route, Client& client);
  Reply abort_job(Job& job, Client& client);
  Handled job_result(const Route& route, const RangeHeaders& wanted, Client& client);
  Result<Step> show_result(const Route& route, const RangeHeaders& wanted, Client& client);
  Outcome stored_result(const StoredJob& stored, const RangeHeaders& wanted);
  Result<Outcome> store(Upload upload);
  static Outcome accepted(Client& client, std::shared_ptr<Job> job, const Patience& wait,
                          Quota::Share share);
  static Outcome accepted(Client& client, const JobSummary& job);
  Result<Step> show_job(const Route& route, const Target& target, Client& client);
  Outcome show_stored(const StoredJob& stored, const Patience& patience, Client& client);
  Outcome show_job(std::shared_ptr<Job> job, const Patience& patience, Client& client);
  [[nodiscard]] std::optional<Refusal> note_key(const RequestHead& head, Upload& upload) const;
  Outcome not_begun(Client& client, const JobId& id, const Refusal& refusal);
  Outcome repeated(const JobJournal::Submitted& submitted, Client& client, Patience wait,
                   Quota::Share share);
  static Outcome repeated(std::shared_ptr<Job> job, Client& client, Patience wait,
                          Quota::Share share);
  Outcome with_ended(const StoredJob& stored, Client& client,
                     std::function<Outcome(std::shared_ptr<Job>)> then);
  Outcome repeated_of_journal(const std::optional<StoredJob>& stored, const JobId& id,
                              Client& client, const Patience& wait, Quota::Share share);
  Result<Step> store_change(const Route& route, const Target& target, Client& client);
  Result<Step> store_erasure(const Route& route, Client& client);
  Result<Step> list(const Target& target, Client& client);
  [[nodiscard]] Reply list_reply(const std::vector<std::string>& jobs,
                                 std::optional<AcceptanceOrder> last) const;
  template <class Then>
  Storing find_stored(const JobId& id, Client& client, Then then);
  Storing describe_stored(const JobId& id, Client& client);
  Outcome erase_stored(const StoredJob& job, Client& client);
  Storing purge(const JobId& id, Client& client, std::function<Reply()> describe);
  Storing purge_late(const JobId& id, Client& client, std::function<Reply()> describe);
  Result<Step> put_job(const Route& route, const Target& target, Client& client);
  Handled set_priority(Job& job, heist::TaskPriority priority, Client& client);
  Outcome store_priority(StoredJob job, heist::TaskPriority priority, Client& client);
  struct Sweep;
  struct Asked;
  class LastAnswer;
  Result<Step> begin_sweep(const Route& route, const Target& target, Client& client);
  Outcome sweep_some(const std::shared_ptr<Sweep>& sweep);
  Outcome go_on(const std::shared_ptr<Sweep>& sweep);
  void choose(Sweep& sweep, const JobPage<StoredJob>& page) const;
  static void choose_to_forget(Sweep& sweep, const StoredJob& job);
  bool choose_to_requeue(Sweep& sweep, const StoredJob& job) const;
  void ask_journal(const std::shared_ptr<Sweep>& sweep, Asked& asked,
                   const std::shared_ptr<LastAnswer>& last);
  Storing ask_journal(const std::shared_ptr<Sweep>& sweep);
  Outcome take_in(const std::shared_ptr<Sweep>& sweep);
  static void note_done(Sweep& sweep, const JobId& id);
  static void forget(Client& client, const JobId& id);
  Outcome forget_some(const std::shared_ptr<Sweep>& sweep);
  Result<Budget::Ticket> room_to_requeue(const StoredJob& job, Client& client) const;
  Result<Step> requeue(const Route& route, const Target& target, Client& client);
  Outcome requeue_stored(const StoredJob& job, Client& client);
  template <class T, class Then>
  Storing storing(const heist::Promise<JournalResult<T>>& answer, Then then) const;
  Handled put_signal(const Route& route, const Target& target, Client& client);
  Result<std::shared_ptr<SignalGroup>> put_group(Client& client, std::string_view name,
                                                 heist::TaskPriority priority);
  Handled erase_signal(const Route& route, Client& client);

  const KindTable& kinds_;
  ClientTable& clients_;
  JobService& service_;
  Observer& observer_;
  const Limits& limits_;
  const ListCursor cursor_;
  ServerEnd end_;
};

}  // namespace heistd
