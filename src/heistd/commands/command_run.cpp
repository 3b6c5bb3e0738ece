#include <sysexits.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <cstring>
#include <exception>
#include <heistd/commands/command_run.hpp>
#include <utility>

namespace heistd {
namespace {

namespace asio = boost::asio;

constexpr std::size_t tail_bytes = 2 * kib;
/// How long output is read on once the program and its group have been killed: what has left the
/// group may hold the pipes for ever.
constexpr std::chrono::milliseconds farewell_time{500};

}  // namespace

CommandRun::CommandRun(asio::io_context& io, std::shared_ptr<ChildProcess> process, Blocks input,
                       const CommandLimits& limits, std::shared_ptr<CommandFailures> failures,
                       heist::Resolver<heist::jobs::Result> resolver)
    : process_(std::move(process)),
      limits_(limits),
      failures_(std::move(failures)),
      resolver_(std::move(resolver)),
      in_(io, process_->input.release()),
      out_(io, process_->output.release()),
      err_(io, process_->errors.release()),
      ended_(io, process_->ended.release()),
      timer_(io),
      input_(std::move(input)) {}

template <class Call>
void CommandRun::guarded(Call call) noexcept {
  try {
    call();
  } catch (...) {
    why_ = std::current_exception();
    finish();
  }
}

void CommandRun::begin() noexcept {
  guarded([this] {
    set_timer(limits_.timeout);
    await_end();
    read_output();
    read_errors();
    write_on();
  });
}

/// Whether the program reads its input is its own affair.
void CommandRun::write_on() {
  if (next_ == input_.size()) return in_.close();
  const auto rest = asio::buffer(input_[next_]) + written_;
  in_.async_write_some(rest, [self = shared_from_this()](const auto& error, std::size_t bytes) {
    self->guarded([&] {
      if (error) return self->in_.close();
      self->written_ += bytes;
      if (self->written_ == self->input_[self->next_].size()) {
        self->input_[self->next_++] = {};
        self->written_ = 0;
      }
      self->write_on();
    });
  });
}

void CommandRun::read_output() {
  block_.resize(block_bytes);
  out_.async_read_some(asio::buffer(block_) + used_,
                       [self = shared_from_this()](const auto& error, std::size_t bytes) {
                         self->guarded([&] {
                           self->keep_output(bytes);
                           if (!error && !self->why_) return self->read_output();
                           self->out_.close();
                           self->finish_when_read();
                         });
                       });
}

/// Full blocks only, but for the last one.
void CommandRun::keep_output(std::size_t bytes) {
  used_ += bytes;
  output_bytes_ += bytes;
  if (output_bytes_ > limits_.output) {
    stop(CommandFailures::Why::output,
         {"result_too_large",
          "the program's output is larger than " + std::to_string(limits_.output) + " bytes"});
  }
  if (used_ < block_bytes) return;
  result_.append(std::exchange(block_, {}));
  used_ = 0;
}

/// The end of the output of a program whose pipe somebody else holds.
void CommandRun::read_what_is_there() {
  boost::system::error_code error;
  if (out_.is_open()) out_.non_blocking(true, error);
  while (out_.is_open() && !error && !why_) {
    block_.resize(block_bytes);
    keep_output(out_.read_some(asio::buffer(block_) + used_, error));
  }
}

void CommandRun::read_errors() {
  error_block_.resize(tail_bytes);
  err_.async_read_some(asio::buffer(error_block_),
                       [self = shared_from_this()](const auto& error, std::size_t bytes) {
                         self->guarded([&] {
                           self->keep_errors(bytes);
                           if (!error) return self->read_errors();
                           self->err_.close();
                           self->finish_when_read();
                         });
                       });
}

void CommandRun::keep_errors(std::size_t bytes) {
  tail_.append(error_block_, 0, bytes);
  tail_.erase(0, tail_.size() - std::min(tail_.size(), tail_bytes));
}

void CommandRun::await_end() {
  ended_.async_wait(Descriptor::wait_read, [self = shared_from_this()](const auto& error) {
    if (!error) self->guarded([&] { self->on_end(); });
  });
}

void CommandRun::on_end() {
  end_ = process_->reap();
  set_timer(farewell_time);
  finish_when_read();
}

void CommandRun::set_timer(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  timer_.async_wait([self = shared_from_this()](const auto& error) {
    if (!error) self->guarded([&] { self->on_timer(); });
  });
}

void CommandRun::on_timer() {
  if (std::chrono::steady_clock::now() < timer_.expiry()) return;  // it was set anew meanwhile
  if (!end_) return stop_late();
  read_what_is_there();
  finish();
}

void CommandRun::stop_late() {
  stop(CommandFailures::Why::timeout,
       {"command_timeout",
        "the program took longer than " + std::to_string(limits_.timeout.count()) + " ms"});
}

/// Its end comes by its descriptor.
void CommandRun::stop(CommandFailures::Why why, const JobFailure& failure) {
  if (!why_) {
    why_ = std::make_exception_ptr(failure);
    failures_->note(why);
  }
  process_->kill();
}

void CommandRun::finish_when_read() {
  if (end_ && !out_.is_open() && !err_.is_open()) finish();
}

// NOLINTNEXTLINE(bugprone-exception-escape): a timer that is cancelled has no error to throw.
void CommandRun::finish() noexcept {
  if (std::exchange(finished_, true)) return;
  try {
    if (!end_) end_ = process_->reap();
    settle();
  } catch (...) {
    resolver_.reject(heist::Reason::of_current_exception());
  }
  boost::system::error_code ignored;
  for (auto* const descriptor : {&in_, &out_, &err_, &ended_}) descriptor->close(ignored);
  timer_.cancel();
}

void CommandRun::settle() {
  if (why_) return resolver_.reject(heist::Reason::of(why_));
  if (end_->by_signal || end_->number != 0) {
    return resolver_.reject(heist::Reason(failure_of(*end_)));
  }
  block_.resize(used_);
  result_.append(std::move(block_));
  resolver_.resolve(std::move(result_));
}

JobFailure CommandRun::failure_of(const ChildProcess::End& end) const {
  std::string what = "the program ended with status " + std::to_string(end.number);
  if (end.by_signal) {
    const char* const name = ::sigabbrev_np(end.number);
    what = "the program was killed by signal " + std::to_string(end.number);
    if (name != nullptr) what += std::string(" (") + name + ")";
  }
  if (!tail_.empty()) what += ": " + tail_;
  if (!end.by_signal && end.number == EX_TEMPFAIL) {
    return JobFailure::transient("command_failed", what);
  }
  return {"command_failed", what};
}

}  // namespace heistd
