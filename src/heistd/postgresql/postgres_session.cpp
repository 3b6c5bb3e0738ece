#include <boost/asio/post.hpp>
#include <exception>
#include <heistd/postgresql/postgres_session.hpp>
#include <stdexcept>
#include <utility>

namespace heistd {
namespace {

/// How often a batch that others were in the way of is run.
constexpr unsigned most_conflicts = 5;

PostgresError ended(PostgresFault fault) { return {fault, {}, "the session has ended"}; }

}  // namespace

/// What may come after its end: events that were under way already.
template <class Function>
auto PostgresSession::while_alive(Function function) {
  return [weak = std::weak_ptr(alive_), function](const boost::system::error_code& error = {}) {
    if (!error && !weak.expired()) function();
  };
}

PostgresSession::PostgresSession(boost::asio::any_io_executor executor, PostgresTarget target,
                                 PostgresLimits limits, Events events,
                                 std::optional<PostgresCall> opening)
    : executor_(std::move(executor)),
      target_(std::move(target)),
      limits_(limits),
      events_(std::move(events)),
      opening_(std::move(opening)),
      backoff_(limits.first_pause, limits.longest_pause),
      pause_(executor_),
      overdue_(executor_),
      queue_(limits.max_batch, limits.max_batch_bytes) {
  boost::asio::post(executor_, while_alive([this] { connect(); }));
}

PostgresSession::~PostgresSession() {
  has_ended_ = true;
  if (connection_) connection_->close();
  if (running_) answer_all(running_->asks, ended(PostgresFault::outcome_unknown));
  answer_all(first_.asks, ended(PostgresFault::no_connection));
  answer_all(again_.asks, ended(PostgresFault::no_connection));
  answer_all(queue_.take_all(), ended(PostgresFault::no_connection));
}

void PostgresSession::ask(PostgresCall call, Done done) {
  if (auto asked = to_ask(std::move(call), std::move(done))) queue_.add(std::move(*asked));
}

void PostgresSession::ask_alone(PostgresCall call, Done done) {
  if (auto asked = to_ask(std::move(call), std::move(done))) queue_.add_alone(std::move(*asked));
}

/// Nothing when it is refused, and answered.
std::optional<PostgresAsked> PostgresSession::to_ask(PostgresCall call, Done done) {
  if (has_ended_) {
    done(ended(PostgresFault::no_connection));
    return std::nullopt;
  }
  if (queue_.size() >= limits_.max_waiting) {
    done(PostgresError{PostgresFault::too_many_waiting,
                       {},
                       std::to_string(queue_.size()) + " calls; try again later"});
    return std::nullopt;
  }
  check_types(call);
  go_on_soon();
  return PostgresAsked{std::move(call), std::move(done),
                       PostgresAsked::Clock::now() + limits_.wait_time};
}

void PostgresSession::ask_again(PostgresCall call, Done done) {
  if (has_ended_) return done(ended(PostgresFault::no_connection));
  check_types(call);
  go_on_soon();
  const auto deadline = PostgresAsked::Clock::now() + limits_.wait_time;
  again_.asks.push_back({std::move(call), std::move(done), deadline});
}

void PostgresSession::ask_first(PostgresCall call, Done done) {
  if (has_ended_) return done(ended(PostgresFault::no_connection));
  check_types(call);
  go_on_soon();
  first_.asks.push_back({std::move(call), std::move(done)});
}

/// The server knows the types of the first call, and would take the bytes of others for them.
void PostgresSession::check_types(const PostgresCall& call) {
  const std::string_view name = call.statement.name;
  const auto& types = call.parameters.types();
  const auto known = types_.find(name);
  if (known == types_.end()) {
    types_.emplace(name, types);
  } else if (known->second != types) {
    throw std::logic_error("the statement " + std::string(name) +
                           " of PostgreSQL is called with values of other types than before");
  }
}

void PostgresSession::drop(std::string why) {
  if (connection_) connection_->lose({.message = std::move(why)});
}

void PostgresSession::connect() {
  connection_ = std::make_shared<PostgresConnection>(
      executor_,
      PostgresConnection::Events{
          [this] { on_connected(); }, [this](PostgresError error) { on_lost(std::move(error)); },
          [this](PostgresOutcome outcome) { on_outcome(std::move(outcome)); },
          [this](const auto& told) { events_.on_notification(told); }});
  connection_->connect(target_, limits_.connect_time, limits_.batch_time * 4 / 5);
}

void PostgresSession::connect_after_pause() {
  pause_.expires_after(backoff_(++failures_));
  pause_.async_wait(while_alive([this] { connect(); }));
}

void PostgresSession::on_connected() {
  is_connected_ = true;
  events_.on_connected();
  go_on_soon();
}

void PostgresSession::on_lost(PostgresError error) {
  connection_ = nullptr;
  is_connected_ = false;
  last_loss_ = error.message;
  auto running = std::exchange(running_, std::nullopt);
  auto first = std::exchange(first_, {});
  connect_after_pause();
  error.fault = PostgresFault::no_connection;
  events_.on_lost(error);
  answer_all(first.asks, error);
  error.fault = PostgresFault::outcome_unknown;
  if (running) answer_all(running->asks, error);
}

void PostgresSession::on_outcome(PostgresOutcome outcome) {
  auto turn = std::move(*running_);
  running_.reset();
  go_on_soon();
  if (outcome.error) return retry_or_refuse(std::move(turn), std::move(outcome));
  if (is_opened()) outcome.rows.erase(outcome.rows.begin());
  answer_all(turn.asks, std::move(outcome.rows));
}

void PostgresSession::retry_or_refuse(PostgresTurn turn, PostgresOutcome outcome) {
  if (outcome.error->is_conflict() && ++turn.conflicts < most_conflicts) {
    if (!is_first_) return queue_.put_back(std::move(turn));
    first_ = std::move(turn);
    return;
  }
  if (is_opened() && outcome.failed == 0) {
    queue_.put_back(std::move(turn));
    events_.on_opening_refused(*outcome.error);
    return drop("the server has refused to go on: " + outcome.error->message);
  }
  if (is_opened()) --outcome.failed;
  if (!is_first_ && turn.asks.size() > 1)
    return queue_.put_back_in_parts(std::move(turn), outcome.failed);
  answer_all(turn.asks, *outcome.error);
  if (is_first_) drop("a first call was refused: " + outcome.error->message);
}

/// After the handler that runs now: what that asks for comes together.
void PostgresSession::go_on_soon() {
  if (goes_on_soon_) return;
  boost::asio::post(executor_, while_alive([this] {
                      goes_on_soon_ = false;
                      go_on();
                    }));
  goes_on_soon_ = true;
}

void PostgresSession::go_on() {
  if (!again_.asks.empty()) queue_.put_back(std::exchange(again_, {}));
  end_overdue();
  if (!is_connected_ || running_) return;
  is_first_ = !first_.asks.empty();
  if (is_first_) return run(std::exchange(first_, {}));
  failures_ = 0;
  if (auto turn = queue_.take()) run(std::move(*turn));
}

void PostgresSession::run(PostgresTurn turn) {
  running_ = std::move(turn);
  try {
    std::vector<const PostgresCall*> calls;
    calls.reserve(running_->asks.size() + 1);
    if (is_opened()) calls.push_back(&*opening_);
    for (const auto& asked : running_->asks) calls.push_back(&asked.call);
    connection_->run(std::move(calls), limits_.batch_time);
  } catch (const std::exception& error) {
    drop(error.what());
  }
}

/// One timer for all of them; it may come too early, and is set anew then.
void PostgresSession::end_overdue() {
  const auto waited = std::to_string(limits_.wait_time.count()) + " ms";
  auto overdue = queue_.take_overdue(PostgresAsked::Clock::now());
  if (!overdue.empty()) {
    answer_all(overdue, {PostgresFault::no_connection,
                         {},
                         "not sent within " + waited + (is_connected_ ? "" : ": " + last_loss_)});
  }
  if (queue_.size() == 0 || std::exchange(awaits_overdue_, true)) return;
  overdue_.expires_at(queue_.deadline());
  overdue_.async_wait(while_alive([this] {
    awaits_overdue_ = false;
    end_overdue();
  }));
}

void PostgresSession::answer_all(const PostgresAsks& asks,
                                 std::vector<PostgresRows> rows) noexcept {
  for (std::size_t i = 0; i < asks.size(); ++i) asks[i].done(std::move(rows[i]));
}

void PostgresSession::answer_all(const PostgresAsks& asks, const PostgresError& error) noexcept {
  for (const auto& asked : asks) asked.done(error);
}

}  // namespace heistd
