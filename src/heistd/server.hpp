// Server: the sockets, the agent, and how they start and end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <heist/agent_cluster.hpp>
#include <heist/watchdog.hpp>
#include <heistd/api.hpp>
#include <heistd/claimer.hpp>
#include <heistd/client.hpp>
#include <heistd/closer.hpp>
#include <heistd/connection_thread.hpp>
#include <heistd/connections.hpp>
#include <heistd/events/event_pulse.hpp>
#include <heistd/job_keeper.hpp>
#include <heistd/job_service.hpp>
#include <heistd/kind_table.hpp>
#include <heistd/listening.hpp>
#include <heistd/network_reserve.hpp>
#include <heistd/observer.hpp>
#include <heistd/options.hpp>
#include <heistd/postgresql/shared_journal.hpp>
#include <heistd/served_names.hpp>
#include <heistd/service_pulse.hpp>
#include <heistd/sessions.hpp>
#include <heistd/tls_identity.hpp>
#include <heistd/trim_pulse.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heistd {

/// Listens, serves, and on SIGTERM or SIGINT drains and ends.
///
/// Jobs run on agents of their own; everything else, on the thread that makes the server and calls
/// run(), which is the network's. With several network threads it leaves the connections to them.
class Server {
 public:
  /// Starts to listen. Signals are heard from now on. The kinds live longer than the server.
  ///
  /// Errors: std::system_error when the address cannot be had.
  Server(Options options, const KindTable& kinds);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// As of Listener::address().
  [[nodiscard]] std::string address() const { return listener_.address(); }

  /// Serves until a signal ends it.   Blocks: until then.
  void run();

 private:
  bool recover();
  bool accept();
  void try_to_accept();
  void on_accept(const boost::system::error_code& error, Stream::socket socket,
                 ConnectionThread* thread);
  [[nodiscard]] SessionContext session_context();
  [[nodiscard]] std::vector<std::unique_ptr<ConnectionThread>> make_threads();
  [[nodiscard]] ConnectionThread* least_busy_thread() const noexcept;
  void stop_sessions();
  void await_signal();
  void on_signal(int number);
  void reread_files();
  void reopen_log();
  void start_drain(std::string_view why);
  [[nodiscard]] std::chrono::milliseconds drain_time_left() const;
  void close_when_no_job_is_left();
  void open_shared_journal();
  [[nodiscard]] std::optional<JobKeeper> make_keeper();
  void restore(const KindTable& kinds);
  void share_queue(const KindTable& kinds);
  void watch_threads();
  void abort_jobs();
  void await_journal();
  void finish_drain(const heist::CloseReport& report);
  void say_farewell();
  void note_quiet();

  Options options_;
  const KindTable& kinds_;
  // Before the agents, for each of which malloc takes 64 MiB of address space if it can.
  NetworkReserve reserve_;
  // Of whom sessions hold shares, whose coroutines live as long as the io_context.
  ClientTable clients_;
  Connections connections_;
  /// Empty: this thread serves the connections itself. Before the agents, as the reserve.
  std::vector<std::unique_ptr<ConnectionThread>> threads_;
  boost::asio::io_context io_;
  Listener listener_;
  std::shared_ptr<const TlsIdentity> identity_;  ///< of new connections; null: without TLS
  boost::asio::signal_set signals_;
  boost::asio::steady_timer farewell_;
  ServicePulse pulse_;
  EventPulse event_pulse_;
  boost::asio::steady_timer jobs_end_;
  // Before the agents, whose malloc may leave no address space for the stack of its thread.
  std::optional<Closer> closer_;
  std::optional<heist::AgentCluster> cluster_;
  std::optional<heist::Watchdog> watchdog_;
  /// With --data. It is there longer than what asks it, and not longer than the io_context.
  std::unique_ptr<JobJournal> journal_;
  std::optional<SharedJournal> shared_;  ///< with --journal, instead of the other one
  std::optional<JobKeeper> keeper_;
  TrimPulse trim_pulse_;
  JobService service_;
  std::optional<Claimer> claimer_;  ///< with --journal
  std::optional<Observer> observer_;
  Api api_;
  ServedNames names_;
  Sessions sessions_;  ///< this thread's own

  bool accepting_ = false;
  Clock::time_point accept_again_;  ///< not before that
  bool draining_ = false;
  bool drained_ = false;
  std::size_t threads_with_sessions_ = 0;  ///< once it is drained
  Clock::time_point drain_start_;
  std::size_t finished_before_drain_ = 0;
  std::size_t aborted_by_drain_ = 0;
  std::size_t awaited_ = 0;             ///< answers of the journal, when that was looked at last
  Clock::time_point journal_patience_;  ///< how long the next of them may take
  std::optional<heist::CloseReport> report_;  ///< once the agents have closed
};

}  // namespace heistd
