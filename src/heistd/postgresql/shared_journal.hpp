// SharedJournal: a server's journal in PostgreSQL, with the thread on which it talks to that.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <heistd/postgresql/postgres_journal.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace heistd {

/// Nobody but that thread waits for the database: not the network's, and no agent.
///
/// Thread: that of its maker.
class SharedJournal {
 public:
  /// `on_lost` and `on_hint` are as of PostgresJournal, and are called on the journal's thread.
  ///
  /// Errors: std::runtime_error, whose text says what to do, when the database cannot be used.
  /// Blocks: until that is known.
  SharedJournal(const std::string& target, std::chrono::milliseconds finished_age,
                std::function<void(const std::vector<JobId>&)> on_lost,
                std::function<void()> on_hint);
  /// Blocks: until the database has all that was asked for, or for some seconds without that.
  ~SharedJournal();
  SharedJournal(const SharedJournal&) = delete;
  SharedJournal& operator=(const SharedJournal&) = delete;

  [[nodiscard]] PostgresJournal& journal() noexcept { return *journal_; }
  /// What the other servers know this one by.
  [[nodiscard]] const std::string& node() const noexcept { return node_; }

 private:
  void run() noexcept;

  const std::string node_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_{
      io_.get_executor()};
  std::optional<PostgresJournal> journal_;
  std::thread thread_;
};

}  // namespace heistd
