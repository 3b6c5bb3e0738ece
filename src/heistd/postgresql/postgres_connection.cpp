#include <exception>
#include <heistd/postgresql/postgres_connection.hpp>
#include <utility>

namespace heistd {
namespace {

/// Warnings and notices would go to the standard error output.
void ignore_notice(void* /*context*/, const ::PGresult* /*notice*/) {}

struct FreeMemory {
  void operator()(void* memory) const noexcept { ::PQfreemem(memory); }
};

}  // namespace

void PostgresConnection::connect(const PostgresTarget& target, Duration limit_of_time,
                                 Duration statement_time) {
  target_ = &target;
  statement_time_ = statement_time;
  limit(limit_of_time, "PostgreSQL has not taken the connection in time");
  take_step(&PostgresConnection::resolve_next);
}

/// libpq would resolve names itself, and block.
void PostgresConnection::resolve_next() {
  for (; resolved_ < target_->hosts().size(); ++resolved_) {
    const auto& host = target_->hosts()[resolved_];
    if (host.has_to_be_resolved()) break;
    add_place(host, "");
  }
  if (resolved_ == target_->hosts().size()) return begin();
  const auto& host = target_->hosts()[resolved_++];
  resolver_.async_resolve(
      host.name, "", [weak = weak_from_this(), &host](const auto& error, const auto& addresses) {
        const auto self = weak.lock();
        if (!self || self->is_closed_) return;
        if (error) self->not_resolved_ = host.name + ": " + error.message();
        for (const auto& one : addresses)
          self->add_place(host, one.endpoint().address().to_string());
        self->take_step(&PostgresConnection::resolve_next);
      });
}

void PostgresConnection::add_place(const PostgresTarget::Host& host, std::string address) {
  places_.push_back({host, std::move(address)});
}

void PostgresConnection::begin() {
  if (places_.empty() && !not_resolved_.empty())
    return lose({.message = "the host of PostgreSQL has no address: " + not_resolved_});
  connection_.reset(target_->connect(places_, statement_time_));
  ::PQsetNoticeReceiver(connection_.get(), &ignore_notice, nullptr);
  if (::PQstatus(connection_.get()) == CONNECTION_BAD) return lose_by_libpq();
  descriptor_.assign(::PQsocket(connection_.get()));
  wait(Wait::wait_write, &PostgresConnection::poll);
}

/// libpq may close its descriptor, and open another one with the same number.
void PostgresConnection::poll() {
  descriptor_.release();
  const auto state = ::PQconnectPoll(connection_.get());
  if (state == PGRES_POLLING_FAILED) return lose_by_libpq();
  descriptor_.assign(::PQsocket(connection_.get()));
  if (state == PGRES_POLLING_OK) return get_ready();
  wait(state == PGRES_POLLING_READING ? Wait::wait_read : Wait::wait_write,
       &PostgresConnection::poll);
}

void PostgresConnection::get_ready() {
  end_limit();
  if (::PQsetnonblocking(connection_.get(), 1) != 0 ||
      ::PQenterPipelineMode(connection_.get()) == 0) {
    return lose_by_libpq();
  }
  await_input();
  events_.on_connected();
}

void PostgresConnection::run(std::vector<const PostgresCall*> calls, Duration limit_of_time) {
  limit(limit_of_time, "PostgreSQL has not answered in time");
  batch_.emplace(*connection_, statements_, std::move(calls));
  take_step(&PostgresConnection::send);
}

void PostgresConnection::send() {
  const auto sent = batch_->send();
  if (sent == PostgresBatch::Sent::failed) return lose_by_libpq();
  if (sent == PostgresBatch::Sent::all || std::exchange(awaits_output_, true)) return;
  wait(Wait::wait_write, &PostgresConnection::on_writable);
}

/// Input is awaited at the same time, so that both sides do not wait for each other. What libpq has
/// read of it on its own while it could not write is taken with the next: the last answer of a
/// batch comes after its last byte was written.
void PostgresConnection::on_writable() {
  awaits_output_ = false;
  if (batch_) send();
}

void PostgresConnection::await_input() { wait(Wait::wait_read, &PostgresConnection::on_readable); }

void PostgresConnection::on_readable() {
  const bool is_alive = ::PQconsumeInput(connection_.get()) != 0;
  receive();
  tell_notifications();
  if (is_closed_) return;
  if (!is_alive) return lose_by_libpq();
  await_input();
}

void PostgresConnection::receive() {
  if (is_closed_ || !batch_) return;
  const auto received = batch_->receive();
  if (received == PostgresBatch::Received::failed) return lose_by_libpq();
  if (received == PostgresBatch::Received::some) return;
  end_limit();
  auto outcome = batch_->take_outcome();
  batch_.reset();
  events_.on_outcome(std::move(outcome));
}

void PostgresConnection::tell_notifications() {
  while (!is_closed_) {
    const std::unique_ptr<::PGnotify, FreeMemory> told(::PQnotifies(connection_.get()));
    if (!told) return;
    const bool is_own = told->be_pid == ::PQbackendPID(connection_.get());
    events_.on_notification({told->relname, told->extra, is_own});
  }
}

void PostgresConnection::limit(Duration time, const char* what) {
  timer_.expires_after(time);
  timer_.async_wait([weak = weak_from_this(), what, number = ++limits_](const auto& error) {
    const auto self = weak.lock();
    if (self && !error && self->limits_ == number) self->lose({.message = what});
  });
}

/// The timer's event may be under way already.
void PostgresConnection::end_limit() {
  ++limits_;
  timer_.cancel();
}

void PostgresConnection::wait(Wait what, Step step) {
  descriptor_.async_wait(what, [weak = weak_from_this(), step](const auto& error) {
    if (const auto self = weak.lock(); self && !error) self->take_step(step);
  });
}

/// What throws leaves a connection behind of which nobody knows where it is.
void PostgresConnection::take_step(Step step) {
  if (is_closed_) return;
  const auto self = shared_from_this();
  try {
    (this->*step)();
  } catch (const std::exception& error) {
    lose({.message = error.what()});
  }
}

/// The server may have said why before it closed the connection.
void PostgresConnection::lose_by_libpq() {
  auto said = batch_ ? std::move(batch_->error()) : std::nullopt;
  if (said && !said->message.empty()) return lose(std::move(*said));
  std::string message = ::PQerrorMessage(connection_.get());
  while (message.ends_with('\n')) message.pop_back();
  lose({.message = std::move(message)});
}

void PostgresConnection::lose(PostgresError error) {
  if (is_closed_) return;
  const auto self = shared_from_this();
  close();
  events_.on_lost(std::move(error));
}

// NOLINTNEXTLINE(bugprone-exception-escape): a timer that is cancelled has no error to throw.
void PostgresConnection::close() noexcept {
  is_closed_ = true;
  resolver_.cancel();
  timer_.cancel();
  if (descriptor_.is_open()) descriptor_.release();
  batch_.reset();
  connection_.reset();
}

}  // namespace heistd
