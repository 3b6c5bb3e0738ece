#include <algorithm>
#include <boost/asio/post.hpp>
#include <csignal>
#include <heist/dump.hpp>
#include <heistd/job_restore.hpp>
#include <heistd/journal/sqlite_journal.hpp>
#include <heistd/memory_reserve.hpp>
#include <heistd/memory_shortage.hpp>
#include <heistd/server.hpp>
#include <iostream>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

heist::AgentClusterOptions cluster_options(const Options& options) {
  heist::AgentClusterOptions cluster;
  cluster.agents = options.agents;
  cluster.name = "heistd-agent";
  cluster.loop.max_wait = options.max_wait;
  cluster.on_start = [](unsigned /*agent*/) { MemoryReserve::prepare(); };
  return cluster;
}

/// What comes from now on, while the journal is opened as well, is heard as the server runs.
asio::signal_set signals_of(asio::io_context& io, const Options& options) {
  return options.has_files() ? asio::signal_set(io, SIGTERM, SIGINT, SIGHUP)
                             : asio::signal_set(io, SIGTERM, SIGINT);
}

std::unique_ptr<JobJournal> open_journal(const Options& options) {
  if (options.data.empty()) return nullptr;
  return std::make_unique<SqliteJournal>(options.data, options.stored);
}

using Identity = std::shared_ptr<const TlsIdentity>;

/// A Unix socket does not leave this machine.   Errors: as TlsIdentity, and for such a socket.
Identity read_identity(const TlsFiles& files, const Listener& listener) {
  if (!files.are_given()) return nullptr;
  if (!listener.is_tcp()) {
    throw std::runtime_error(
        "--tls-certificate: the service manager has passed a Unix socket, which has no TLS; leave "
        "the option out, or have a TCP socket passed");
  }
  return std::make_shared<const TlsIdentity>(files);
}

/// Has the identity be that of the files by now; otherwise says what is wrong with them.
std::optional<std::string> read_again(const std::variant<Options, std::string>& now,
                                      Identity& identity) {
  if (const auto* const error = std::get_if<std::string>(&now)) return *error;
  const auto& files = std::get<Options>(now).tls;
  if (!identity || !files.are_given()) return std::nullopt;
  try {
    identity = std::make_shared<const TlsIdentity>(files);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return std::nullopt;
}

std::optional<std::chrono::sys_seconds> end_of(const Identity& identity) {
  return identity ? std::optional(identity->valid_until()) : std::nullopt;
}

std::optional<JobJournal::Disk> disk_of(const JobJournal* journal) {
  return journal == nullptr ? std::nullopt : journal->disk();
}

}  // namespace

Server::Server(Options options, const KindTable& kinds)
    : options_(std::move(options)),
      kinds_(kinds),
      clients_(options_.clients, options_.anonymous_ceiling, options_.limits),
      connections_(options_.limits),
      threads_(make_threads()),
      io_(1),
      listener_(io_, options_),
      identity_(read_identity(options_.tls, listener_)),
      signals_(signals_of(io_, options_)),
      farewell_(io_),
      pulse_(io_),
      event_pulse_(clients_, io_),
      jobs_end_(io_),
      closer_(std::in_place, cluster_, io_,
              [this](const heist::CloseReport& report) { finish_drain(report); }),
      cluster_(std::in_place, cluster_options(options_)),
      journal_(open_journal(options_)),
      keeper_(make_keeper()),
      trim_pulse_(journal_ ? &*keeper_ : nullptr, options_.stored.finished_age, io_),
      service_(cluster_->scheduler(), io_.get_executor(), keeper_ ? &*keeper_ : nullptr,
               options_.job_log),
      observer_(std::in_place,
                Observer::Sources{.dump = [this] { return heist::dump(*cluster_); },
                                  .metrics = [this] { return cluster_->metrics(); },
                                  .disk = [this] { return disk_of(journal_.get()); },
                                  .certificate_end = [this] { return end_of(identity_); }},
                cluster_->size() + threads_.size(), BlockDisposal(cluster_->scheduler()),
                io_.get_executor()),
      api_(kinds, clients_, service_, *observer_, options_.limits),
      names_(options_.hosts),
      sessions_(session_context()) {
  if (identity_) std::cout << "heistd: TLS with " << identity_->description() << std::endl;
  if (!options_.operator_name.empty()) clients_.set_operator(options_.operator_name);
  if (options_.report_tasks_over.count() > 0)
    watchdog_.emplace(*cluster_, heist::WatchdogOptions{.limit = options_.report_tasks_over});
  service_.apply_limits(clients_);
  api_.set_end({.begin = [this] { start_drain("POST /drain"); },
                .left = [this] { return drain_time_left(); }});
  if (journal_) restore(kinds);
  if (shared_) share_queue(kinds);
  watch_threads();
  await_signal();
}

/// A thread of connections may stand still while the network thread does not, and the service
/// manager is to hear of that. The journal's threads are not watched: they stand still while the
/// disk does. A new server would not get on then, and each running job would have lost an attempt.
void Server::watch_threads() {
  for (const auto& thread : threads_) {
    pulse_.watch([&io = thread->io()](auto answer) { asio::post(io, std::move(answer)); });
  }
}

/// Of what is lost, or may be claimed, the network's thread hears later: the journal's does not
/// wait for it.
void Server::open_shared_journal() {
  if (options_.journal.empty()) return;
  const auto tell = [this](auto step) {
    asio::post(io_, [this, step = std::move(step)] {
      if (claimer_) step(*claimer_);
    });
  };
  shared_.emplace(
      options_.journal, options_.stored.finished_age,
      [tell](const std::vector<JobId>& ids) {
        tell([ids](Claimer& claimer) { claimer.lose(ids); });
      },
      [tell] { tell([](Claimer& claimer) { claimer.claim(); }); });
}

std::optional<JobKeeper> Server::make_keeper() {
  open_shared_journal();
  if (!journal_ && !shared_) return std::nullopt;
  JobJournal& journal = shared_ ? shared_->journal() : *journal_;
  return std::optional<JobKeeper>(std::in_place, journal, io_.get_executor(), shared_.has_value());
}

void Server::share_queue(const KindTable& kinds) {
  claimer_.emplace(shared_->journal(), service_, clients_, kinds, cluster_->size());
  service_.share_queue(kinds, [this] { claimer_->claim(); });
  restore_names(service_, clients_, kinds);
  std::cout << "heistd: shares the queue in PostgreSQL as " << shared_->node() << std::endl;
  claimer_->start();
}

void Server::restore(const KindTable& kinds) {
  const auto restored = restore_jobs(service_, clients_, kinds);
  std::cout << "heistd: " << options_.data << " has " << restored.unfinished << " jobs to do and "
            << restored.finished << " finished ones";
  if (restored.dead > 0) std::cout << "; " << restored.dead << " have had their last attempt";
  if (restored.left > 0) {
    std::cout << "; " << restored.left << " wait for a server with their client and kind";
  }
  std::cout << std::endl;
}

Server::~Server() {
  for (const auto& thread : threads_) thread->end();
  closer_.reset();
  observer_.reset();
  watchdog_.reset();
  // First of all, as its last words go to the service and the io_context.
  cluster_.reset();
}

void Server::run() {
  while (!io_.stopped()) {
    try {
      if (recover()) {
        io_.run_one();
      } else {
        io_.run_one_for(retry_pause);
      }
    } catch (const std::exception& error) {
      std::cerr << "heistd: " << error.what() << std::endl;
    }
  }
}

/// Makes up for what was lost while memory or descriptors were missing, and starts what pauses have
/// held back; false when some of that is left, so that it is to be called again. It comes after
/// each event.
bool Server::recover() {
  // The journal has them as well.
  if (keeper_ && MemoryShortage::take()) clients_.drop_older_half();
  const bool full = reserve_.refill();
  if (reserve_.is_low()) connections_.evict_idle();
  const bool beats = pulse_.beat();
  const bool tells = event_pulse_.beat();
  const bool trims = trim_pulse_.beat();
  const bool starts = service_.recover(clients_);
  return accept() && beats && tells && trims && starts && full;
}

/// Accepts the next connection; false when that has to wait.
bool Server::accept() {
  if (accepting_ || !listener_.acceptor().is_open()) return true;
  if (Clock::now() < accept_again_) return false;
  accept_again_ = Clock::now() + retry_pause;
  try_to_accept();
  return accepting_;
}

/// With a handler and no coroutine: what Asio throws at the start of an operation ends the
/// coroutine.
void Server::try_to_accept() {
  auto* const thread = least_busy_thread();
  try {
    listener_.acceptor().async_accept(
        thread != nullptr ? thread->io() : io_,
        [this, thread](const boost::system::error_code& error, Stream::socket socket) {
          on_accept(error, std::move(socket), thread);
        });
    accepting_ = true;
  } catch (const std::bad_alloc&) {
    accepting_ = false;
  }
}

void Server::on_accept(const boost::system::error_code& error, Stream::socket socket,
                       ConnectionThread* thread) {
  accepting_ = false;
  if (error) return;
  accept_again_ = {};
  Accepted accepted(std::move(socket), identity_, connections_, options_.limits.limit_loopback);
  if (thread != nullptr) {
    thread->start(std::move(accepted));
  } else {
    sessions_.start(std::move(accepted), [] {});
  }
}

/// With one network thread, that is this one.
std::vector<std::unique_ptr<ConnectionThread>> Server::make_threads() {
  std::vector<std::unique_ptr<ConnectionThread>> threads;
  for (unsigned i = 0; options_.network_threads > 1 && i < options_.network_threads; ++i) {
    threads.push_back(std::make_unique<ConnectionThread>(io_, connections_, session_context()));
  }
  return threads;
}

SessionContext Server::session_context() {
  return {api_, options_.limits, names_, Crossing(io_, io_)};
}

/// Null: there is none but this one.
ConnectionThread* Server::least_busy_thread() const noexcept {
  const auto least = std::ranges::min_element(threads_, {}, &ConnectionThread::connections);
  return least == threads_.end() ? nullptr : least->get();
}

void Server::await_signal() {
  signals_.async_wait([this](const boost::system::error_code& error, int number) {
    if (error) return;
    on_signal(number);
    await_signal();
  });
}

void Server::on_signal(int number) {
  try {
    if (number == SIGHUP) {
      reread_files();
    } else if (!draining_) {
      start_drain(number == SIGTERM ? "SIGTERM" : "SIGINT");
    } else if (!drained_) {
      std::cout << "heistd: a second signal: aborting " << clients_.unfinished_jobs() << " jobs"
                << std::endl;
      abort_jobs();
    }
  } catch (const std::exception& error) {
    std::cerr << "heistd: " << error.what() << std::endl;
  }
}

void Server::reopen_log() {
  try {
    service_.log().reopen();
  } catch (const std::system_error& error) {
    std::cerr << "heistd: SIGHUP: " << error.what() << "; the file that was open is written on"
              << std::endl;
  }
}

/// A file that is wrong changes nothing. They are small, so the network waits for them.
/// Connections that are there keep the certificate that they began with.
void Server::reread_files() {
  reopen_log();
  auto now = reread_options(options_, kinds_);
  if (const auto error = read_again(now, identity_)) {
    std::cerr << "heistd: SIGHUP: " << *error
              << "; the clients, options and certificate stay as they were" << std::endl;
    return;
  }
  const auto others = take_over(options_, std::get<Options>(std::move(now)));
  sessions_.renew(options_.limits);
  for (const auto& thread : threads_) thread->renew(options_.limits);
  clients_.renew(options_.clients);
  service_.apply_limits(clients_);
  // Who still has a token comes again.
  event_pulse_.end_streams("the clients and their tokens were read again");
  std::cout << "heistd: SIGHUP: clients, timeouts and --min-rate are those of the files by now";
  if (identity_) std::cout << "; new connections get " << identity_->description();
  if (!others.empty()) std::cout << "; a new start is needed for " << others;
  std::cout << std::endl;
}

}  // namespace heistd
