// How a server ends: it takes no more jobs, has the others end, and says farewell.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <heistd/server.hpp>
#include <heistd/service_manager.hpp>
#include <iostream>
#include <new>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

/// How often it is looked whether there is still a job that can run, while the server drains.
constexpr std::chrono::milliseconds job_check_interval{10};
/// How often it is looked whether the journal has answered all that it was asked for.
constexpr std::chrono::milliseconds look_again{5};
/// How long the last answers may take to leave, once all jobs have ended.
constexpr std::chrono::seconds farewell_time{1};

}  // namespace

/// Results, polls and questions after the server's health are answered until it ends. New
/// connections may wait for the next server where there is something that keeps them for it.
void Server::start_drain(std::string_view why) {
  draining_ = true;
  tell_stopping();
  drain_start_ = Clock::now();
  finished_before_drain_ = service_.finished_count();
  service_.start_shutdown();
  if (claimer_) claimer_->stop();
  observer_->end_trace();
  // Before all that might fail.
  close_when_no_job_is_left();
  std::cout << "heistd: " << why << ": draining for at most " << options_.drain_deadline.count()
            << " ms" << std::endl;
  if (listener_.is_inherited()) listener_.close();
}

std::chrono::milliseconds Server::drain_time_left() const {
  const auto left = drain_start_ + options_.drain_deadline - Clock::now();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), {});
}

/// The agents close once they have nothing to run, though jobs may wait for a program, for the
/// journal or for anything else. So they are not told before all jobs that are not delayed have
/// ended, or the deadline is over.
void Server::close_when_no_job_is_left() {
  const auto deadline = drain_start_ + options_.drain_deadline;
  if (!service_.has_runnable_jobs() || Clock::now() >= deadline)
    return closer_->close_until(deadline);
  try {
    jobs_end_.expires_after(job_check_interval);
    jobs_end_.async_wait(
        [this](const boost::system::error_code& /*none*/) { close_when_no_job_is_left(); });
  } catch (const std::bad_alloc&) {
    closer_->close_until(deadline);
  }
}

/// A batch in each step of the network thread; when none are left and the agents have closed, the
/// server ends.
void Server::abort_jobs() {
  while (const auto aborted = service_.abort_some(clients_, "the server is shutting down")) {
    aborted_by_drain_ += aborted;
    try {
      return asio::post(io_, [this] { abort_jobs(); });
    } catch (const std::bad_alloc&) {  // then the next batch in this step
    }
  }
  if (report_ && !drained_) say_farewell();
}

void Server::finish_drain(const heist::CloseReport& report) {
  report_ = report;
  if (keeper_) keeper_->close();
  await_journal();
}

/// The agents' last words were posted before the report: what is unfinished when the journal has
/// them never will be finished. A journal that cannot have them now hears of these jobs anew when
/// they have run again. As long as it answers it is waited for, however much there is.
void Server::await_journal() {
  const std::size_t under_way = keeper_ ? keeper_->under_way() : 0;
  if (std::exchange(awaited_, under_way) != under_way) {
    journal_patience_ = Clock::now() + farewell_time;
  }
  if (under_way == 0 || Clock::now() >= journal_patience_) return abort_jobs();
  farewell_.expires_after(look_again);
  farewell_.async_wait([this](const boost::system::error_code& error) {
    if (!error) await_journal();
  });
}

void Server::say_farewell() {
  drained_ = true;
  const auto took =
      std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - drain_start_);
  std::cout << "heistd: drained in " << took.count()
            << " ms: " << service_.finished_count() - finished_before_drain_ << " jobs finished, "
            << aborted_by_drain_ + clients_.waiting_jobs() << (keeper_ ? " kept (" : " aborted (")
            << report_->ran << " tasks ran, " << report_->aborted + report_->not_started
            << " dropped, " << report_->still_running << " still running)" << std::endl;
  signals_.cancel();
  listener_.close();
  event_pulse_.end_streams("the server is shutting down");
  farewell_.expires_after(farewell_time);
  farewell_.async_wait([this](const boost::system::error_code& error) {
    if (!error) io_.stop();
  });
  stop_sessions();
}

void Server::stop_sessions() {
  const auto quiet = [this] { note_quiet(); };
  threads_with_sessions_ = threads_.size() + 1;
  for (const auto& thread : threads_) thread->stop(quiet);
  sessions_.stop(quiet);
}

void Server::note_quiet() {
  if (--threads_with_sessions_ == 0) io_.stop();
}

}  // namespace heistd
