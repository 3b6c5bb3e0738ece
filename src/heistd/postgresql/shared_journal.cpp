#include <pthread.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <exception>
#include <heistd/postgresql/postgres_schema.hpp>
#include <heistd/postgresql/shared_journal.hpp>
#include <iostream>
#include <utility>

namespace heistd {
namespace {

/// It is renewed after a quarter of that, so that an idle server asks less than once a second.
constexpr std::chrono::seconds lease{12};

/// For what was asked for last, at the end. Others take what the database has not heard of by then
/// when the lease is over.
constexpr std::chrono::seconds last_words_time{3};

/// One for each process, as a name that two servers have would be one server's for the database.
std::string node_name() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return std::string(host.data()) + ":" + make_job_id();
}

/// The text of the error never has the string, which may have a password.
std::string usable(const std::string& target) {
  try {
    check_schema(target);
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("--journal: ") + error.what());
  }
  return target;
}

}  // namespace

SharedJournal::SharedJournal(const std::string& target, std::chrono::milliseconds finished_age,
                             std::function<void(const std::vector<JobId>&)> on_lost,
                             std::function<void()> on_hint)
    : node_(node_name()) {
  journal_.emplace(io_.get_executor(),
                   PostgresJournal::Options{.target = PostgresTarget(usable(target)),
                                            .node = node_,
                                            .lease = lease,
                                            .finished_age = finished_age,
                                            .on_lost = std::move(on_lost),
                                            .on_hint = std::move(on_hint),
                                            .starts_claims_only = true});
  thread_ = std::thread([this] { run(); });
  ::pthread_setname_np(thread_.native_handle(), "heistd-queue");
}

SharedJournal::~SharedJournal() {
  static_cast<void>(journal_->flush().wait_for(last_words_time));
  io_.stop();
  thread_.join();
  journal_.reset();
}

/// Without memory for what an event asks for, the next one goes on.
void SharedJournal::run() noexcept {
  while (!io_.stopped()) {
    try {
      io_.run();
    } catch (const std::exception& error) {
      std::cerr << "heistd: the journal in PostgreSQL: " << error.what() << std::endl;
    }
  }
}

}  // namespace heistd
