#include <fcntl.h>
#include <spdlog/async.h>
#include <spdlog/details/null_mutex.h>
#include <spdlog/details/os.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <forward_list>
#include <fstream>
#include <future>
#include <heist/detail/sync.hpp>
#include <heistd/job_log.hpp>
#include <heistd/job_text.hpp>
#include <heistd/json.hpp>
#include <iostream>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

namespace heistd {

/// How many were lost, and of how many the log has told.
struct LostLines {
  void add(std::uint64_t lines) noexcept {
    count.fetch_add(lines, heist::detail::sync::relaxed);  // relaxed: only a number
  }

  heist::detail::sync::atomic<std::uint64_t> count{0};  ///< but for those that the queue has lost
  std::uint64_t told = 0;                               ///< the log's thread's
};

namespace {

/// How long the end of the server waits for who reads the last lines.
constexpr std::chrono::seconds farewell_time{1};

/// Tells when the thread has come to a line, and so has written all that were before it.
class Reached : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  [[nodiscard]] std::future<void> future() { return reached_.get_future(); }

 private:
  void sink_it_(const spdlog::details::log_msg& /*line*/) override { reached_.set_value(); }
  void flush_() override {}

  std::promise<void> reached_;
};

/// As RFC 3339 has it, in UTC.
std::string time_text() {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto parts = spdlog::details::os::gmtime(std::chrono::system_clock::to_time_t(now));
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     now.time_since_epoch().count() % 1000);
}

/// A file, or standard error. The log's thread alone writes, a line at a time and past stdio, which
/// would wait at the end of the process for a write that stands still.
class FileSink : public spdlog::sinks::base_sink<spdlog::details::null_mutex> {
 public:
  /// Errors: std::system_error.   Lifetime: of `thread`, while that writes.
  FileSink(const std::string& file, spdlog::details::thread_pool& thread,
           std::shared_ptr<LostLines> lost)
      : thread_(thread),
        lost_(std::move(lost)),
        descriptor_(file == "-" ? ::dup(STDERR_FILENO)
                                : ::open(file.c_str(), flags | O_NONBLOCK, readable_by_group)) {
    if (descriptor_ < 0) {
      throw std::system_error(errno, std::generic_category(), "--job-log: cannot write " + file);
    }
    if (file == "-") return;
    ::fcntl(descriptor_, F_SETFL, O_APPEND);  // its thread may block
    if (ends_within_line(file)) left_ = "\n";
  }
  /// The rest of a line that a full disk has cut off has no place in the next file.
  ~FileSink() override {
    if (is_within_line()) lost_->add(lines_of_text_);
    ::close(descriptor_);
  }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

 private:
  /// With O_NONBLOCK nobody waits for a reader of a pipe that has none.
  static constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;
  static constexpr ::mode_t readable_by_group = 0640;

  /// As a server before had no room for the rest.
  [[nodiscard]] bool ends_within_line(const std::string& file) const {
    struct stat now{};
    if (::fstat(descriptor_, &now) != 0 || !S_ISREG(now.st_mode) || now.st_size == 0) return false;
    std::ifstream end(file);
    end.seekg(-1, std::ios::end);
    return end && end.get() != '\n';
  }

  /// Errors: spdlog::spdlog_ex, of which the logger tells on standard error once a second;
  ///         std::bad_alloc.
  void sink_it_(const spdlog::details::log_msg& line) override {
    try {
      tell_losses();
      put({line.payload.data(), line.payload.size()}, 1);
    } catch (...) {
      lost_->add(1);
      throw;
    }
  }
  void tell_losses() {
    // relaxed: only a number.
    const auto lost = lost_->count.load(heist::detail::sync::relaxed) + thread_.overrun_counter();
    const auto untold = lost - lost_->told;
    if (untold == 0) return;
    // By hand: a tree of JSON may need memory as it is taken down, and this thread has no reserve.
    put(R"({"time":")" + time_text() + R"(","lost_lines":)" + std::to_string(untold) + '}', untold);
    lost_->told = lost;
  }
  /// A line that has been begun is not lost: its rest comes before the next one. It stands for so
  /// many lines of which nobody hears without it.
  void put(std::string_view line, std::uint64_t lines) {
    write_left();
    text_.assign(line);
    text_ += '\n';
    left_ = text_;
    lines_of_text_ = lines;
    try {
      write_left();
    } catch (const spdlog::spdlog_ex&) {
      if (is_within_line()) return;
      left_ = {};
      throw;
    }
  }
  [[nodiscard]] bool is_within_line() const noexcept {
    return !left_.empty() && left_.size() < text_.size();
  }
  void write_left() {
    while (!left_.empty()) {
      const auto written = ::write(descriptor_, left_.data(), left_.size());
      if (written >= 0) {
        left_.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        throw spdlog::spdlog_ex("a line is lost", errno);
      }
    }
  }
  void flush_() override {}

  spdlog::details::thread_pool& thread_;
  const std::shared_ptr<LostLines> lost_;
  const int descriptor_;
  std::string text_;
  std::uint64_t lines_of_text_ = 0;
  std::string_view left_;  ///< of a line, mostly of text_
};

}  // namespace

JobLog::JobLog(const std::string& file) : file_(file) {
  if (file_.empty()) return;
  thread_ = std::make_shared<spdlog::details::thread_pool>(most_behind, 1);
  lost_ = std::make_shared<LostLines>();
  logger_ = open();
}

JobLog::~JobLog() {
  if (!thread_) return;
  try {
    say_farewell();
  } catch (const std::bad_alloc&) {  // then the thread is joined, however long that takes
  }
}

/// A thread that stands in a write cannot be joined, so it is left alone then: the process ends.
void JobLog::say_farewell() {
  const auto last = std::make_shared<Reached>();
  auto reached = last->future();
  logger_to(last)->info("the last line");
  if (reached.wait_for(farewell_time) == std::future_status::ready) return;
  static auto& left_alone = *new std::forward_list<std::shared_ptr<spdlog::details::thread_pool>>;
  left_alone.push_front(std::move(thread_));
  std::cerr << "heistd: --job-log: nobody takes its last lines, which are lost" << std::endl;
}

std::shared_ptr<spdlog::logger> JobLog::logger_to(std::shared_ptr<spdlog::sinks::sink> sink) const {
  return std::make_shared<spdlog::async_logger>("heistd --job-log", std::move(sink), thread_,
                                                spdlog::async_overflow_policy::overrun_oldest);
}

std::shared_ptr<spdlog::logger> JobLog::open() const {
  return logger_to(std::make_shared<FileSink>(file_, *thread_, lost_));
}

/// Lines that were said before keep their file open until they are written.
void JobLog::reopen() {
  if (logger_) logger_ = open();
}

template <class Describe>
void JobLog::write(const Client& client, Describe describe) noexcept {
  if (!logger_) return;
  try {
    JsonText text;
    text.begin_object();
    text.member("time", time_text());
    text.member("client", client.name);
    describe(text);
    text.end_object();
    logger_->info(text.text());
  } catch (const std::bad_alloc&) {
    lost_->add(1);
  }
}

void JobLog::job_ended(const Client& client, const Job& job) noexcept {
  write(client, [&job](JsonText& text) { add_job(text, job); });
}

void JobLog::job_ended(const Client& client, const JobSummary& job) noexcept {
  write(client, [&job](JsonText& text) { add_summary(text, job); });
}

void JobLog::job_dropped(const Client& client, const WaitingJob::Id& id,
                         const JobLine& line) noexcept {
  write(client, [&](JsonText& text) {
    const auto text_of_id = text_of(id);
    add_summary(text, {.id = text_of_id,
                       .kind = line.kind.name,
                       .state = JobState::aborted,
                       .priority = line.priority(),
                       .signal_name = line.signal_name,
                       .error = aborted_because(signal_deleted)});
  });
}

}  // namespace heistd
