// Kinds whose jobs are done by a program's own handlers.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <heist/jobs.hpp>
#include <heist/yield.hpp>
#include <jobs/handler_kind.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api_fixture.hpp"

namespace heistd {
namespace {

namespace jobs = heist::jobs;
using jobs::Result;

class Handlers : public ApiFixture {
 protected:
  using Options = jobs::KindOptions;

  /// Has jobs of the kind `own` call the handler.
  void handle(jobs::Handler handler, Options options = {}) {
    kinds.add(make_handler_kind("own", std::move(handler), std::move(options),
                                std::source_location::current()));
  }
  /// A function as heist::jobs::Server takes it.
  template <class Function>
  static jobs::Handler function(Function give) {
    return [give](jobs::Job job) { return heist::Promise<Result>::resolved(give(std::move(job))); };
  }
  Json described(const std::string& job) { return call("GET", job).json(); }
  /// The error of a job that was posted, and has run.
  std::string failure(const std::string& job) {
    run_all();
    EXPECT_EQ(state(job), "failed");
    const auto error = described(job)["error"];
    return std::string(error["code"]) + ": " + std::string(error["message"]);
  }
};

heist::Promise<Result> joined_pieces(jobs::Job job) {
  std::string all = std::to_string(job.bytes()) + ":";
  while (auto piece = job.read()) {
    all += std::move(*piece) + "|";
    co_await heist::yield();
  }
  co_return Result(std::move(all), "text/x-pieces");
}

TEST_F(Handlers, coroutine_when_it_reads_then_it_has_the_upload_piece_by_piece) {
  handle(joined_pieces);
  const auto job = post("/jobs/own", std::string(block_bytes, 'a') + "b");
  run_all();
  EXPECT_EQ(state(job), "done");
  EXPECT_EQ(described(job)["result"]["content_type"], "text/x-pieces");
  EXPECT_EQ(call("GET", job + "/result").body,
            std::to_string(block_bytes + 1) + ":" + std::string(block_bytes, 'a') + "|b|");
  EXPECT_EQ(anonymous.budget->bytes(), 0U);
}

TEST_F(Handlers, coroutine_when_it_yields_then_a_more_urgent_job_comes_in_between) {
  handle(joined_pieces);
  const auto low = post("/jobs/own?priority=background", std::string(3 * block_bytes, 'a'));
  run_one();
  EXPECT_EQ(state(low), "running");
  const auto urgent = post("/jobs/digest?priority=user-blocking");
  run_one();
  EXPECT_EQ(state(urgent), "done");
  EXPECT_EQ(state(low), "running");
  run_all();
  EXPECT_EQ(state(low), "done");
}

TEST_F(Handlers, function_when_called_then_its_bytes_are_the_reply_of_who_waits) {
  handle(function([](jobs::Job job) { return Result("<" + job.read().value_or("") + ">"); }));
  const auto waits = call("POST", "/jobs/own?wait=1", "x");
  run_all();
  const auto reply = api.waited(*waits.waiting->job);
  EXPECT_EQ(reply.status, 200U);
  EXPECT_EQ(reply.content_type, "text/plain; charset=utf-8");
  EXPECT_EQ(join(reply.body), "<x>");
}

TEST_F(Handlers, job_when_it_has_parameters_then_the_handler_gets_them_by_their_types) {
  handle(function([](jobs::Job job) {
           EXPECT_EQ(job.text("word"), "a b");
           EXPECT_EQ(job.integer("count"), 7);
           EXPECT_EQ(job.number("ratio"), 0.5);
           EXPECT_TRUE(job.flag("loud"));
           EXPECT_EQ(job.integer("absent"), std::nullopt);
           EXPECT_THROW(static_cast<void>(job.text("count")), std::invalid_argument);
           EXPECT_THROW(static_cast<void>(job.text("unknown")), std::invalid_argument);
           return Result("ok");
         }),
         {.parameters = {{.name = "word"},
                         {.name = "count", .type = jobs::ParameterType::integer},
                         {.name = "ratio", .type = jobs::ParameterType::number},
                         {.name = "loud", .type = jobs::ParameterType::flag},
                         {.name = "absent", .type = jobs::ParameterType::integer}}});
  const auto job = post("/jobs/own?word=a+b&count=7&ratio=0.5&loud=1");
  run_all();
  EXPECT_EQ(state(job), "done") << described(job);
}

TEST_F(Handlers,
       job_when_nobody_had_time_to_check_its_parameters_then_it_fails_before_the_handler) {
  handle(function([](jobs::Job) -> Result { throw std::logic_error("called"); }),
         {.parameters = {{.name = "word", .check = [](const std::string&) {
                            return std::optional(jobs::Failure("rude", "say something else"));
                          }}}});
  auto step =
      begin(api, {"POST", "/jobs/own?word=pah", authorization, 0, false}, Unchecked::accept);
  auto end = api.finish(std::move(std::get<Upload>(step)));
  EXPECT_EQ(failure(answer(std::get<Reply>(end)).header("Location")), "rude: say something else");
}

TEST_F(Handlers, handler_when_it_throws_then_its_job_fails_and_others_go_on) {
  handle([](jobs::Job job) -> heist::Promise<Result> {
    const auto what = job.read().value_or("");
    co_await heist::yield();
    if (what == "typed") throw jobs::Failure("too_small", "no thumbnail of so little");
    if (what == "standard") throw std::runtime_error("broken");
    if (what == "odd") throw 7;
    co_return "fine";
  });
  const auto typed = post("/jobs/own", "typed");
  const auto standard = post("/jobs/own", "standard");
  const auto odd = post("/jobs/own", "odd");
  const auto fine = post("/jobs/own", "other");
  EXPECT_EQ(failure(typed), "too_small: no thumbnail of so little");
  EXPECT_EQ(failure(standard), "internal: broken");
  EXPECT_THAT(failure(odd), testing::StartsWith("internal: "));
  EXPECT_EQ(state(fine), "done");
}

TEST_F(Handlers, handler_when_its_failure_may_go_away_then_without_a_journal_its_job_has_failed) {
  handle(function([](jobs::Job) -> Result {
    throw jobs::Failure::transient("busy", "the other server is busy");
  }));
  EXPECT_EQ(failure(post("/jobs/own")), "busy: the other server is busy");
}

TEST_F(Handlers, job_when_asked_then_it_names_itself_and_its_attempt) {
  handle(function(
      [](jobs::Job job) { return Result(job.id() + " " + std::to_string(job.attempt())); }));
  const auto job = post("/jobs/own");
  run_all();
  const JobId id = described(job)["id"];
  EXPECT_EQ(call("GET", job + "/result").body, id + " 1");
}

TEST_F(Handlers, function_when_it_throws_anything_then_its_job_fails) {
  handle(function([](jobs::Job) -> Result { throw 7; }));
  EXPECT_THAT(failure(post("/jobs/own")), testing::StartsWith("internal: "));
}

TEST_F(Handlers, progress_when_reported_then_the_description_shows_it) {
  handle([](jobs::Job job) -> heist::Promise<Result> {
    co_await heist::yield();
    for (const double part : {0.25, 7.0}) {
      job.report_progress(part);
      co_await heist::yield();
    }
    co_return "";
  });
  const auto job = post("/jobs/own");
  run_one();
  EXPECT_FALSE(described(job).contains("progress"));
  run_one();
  EXPECT_EQ(described(job)["progress"], 0.25);
  run_one();
  EXPECT_EQ(described(job)["progress"], 1.0);
}

TEST_F(Handlers, job_when_aborted_then_its_signal_is_and_the_handler_ends_at_its_yield) {
  bool seen = false;
  bool went_on = false;
  bool ended = false;
  struct Ended {
    bool& flag;
    ~Ended() { flag = true; }
  };
  handle([&](jobs::Job job) -> heist::Promise<Result> {
    const Ended at_end{ended};
    const auto listener = job.signal().on_abort([&] { seen = true; });
    co_await heist::yield();
    went_on = true;
    co_return "";
  });
  const auto job = post("/jobs/own");
  run_one();
  EXPECT_EQ(call("DELETE", job).json()["state"], "aborted");
  EXPECT_TRUE(seen);
  run_all();
  EXPECT_FALSE(went_on);
  EXPECT_TRUE(ended);
  EXPECT_EQ(anonymous.budget->jobs(), 0U);
}

TEST_F(Handlers, job_when_its_priority_changes_then_its_signal_has_the_new_one) {
  std::vector<heist::TaskPriority> seen;
  handle([&](jobs::Job job) -> heist::Promise<Result> {
    seen.push_back(job.signal().priority());
    co_await heist::yield();
    seen.push_back(job.signal().priority());
    co_return "";
  });
  post("/jobs/own?signal=g");
  run_one();
  static_cast<void>(call("PUT", "/signals/g?priority=background"));
  run_all();
  EXPECT_THAT(seen, testing::ElementsAre(heist::TaskPriority::user_visible,
                                         heist::TaskPriority::background));
}

TEST_F(Handlers, handler_when_it_waits_for_something_then_no_agent_waits) {
  auto waited = heist::Promise<void>::with_resolver();
  handle([promise = waited.promise](jobs::Job) -> heist::Promise<Result> {
    co_await promise;
    co_return "woken";
  });
  const auto job = post("/jobs/own");
  run_all();
  EXPECT_EQ(state(job), "running");
  EXPECT_TRUE(service.has_runnable_jobs());
  waited.resolver.resolve();
  run_all();
  EXPECT_EQ(call("GET", job + "/result").body, "woken");
  EXPECT_FALSE(service.has_runnable_jobs());
  EXPECT_FALSE(described(job).contains("longest_chunk_us"));
}

TEST(JobServer, kind_when_its_handler_is_empty_then_it_is_refused) {
  jobs::Server server;
  EXPECT_THROW(server.kind("own", jobs::Handler()), std::invalid_argument);
  server.kind("own", joined_pieces);
}

class ResultFile {
 public:
  explicit ResultFile(const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  ~ResultFile() { std::filesystem::remove(path); }
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;

  const std::string path = testing::TempDir() + "heistd_result_" + std::to_string(::getpid());
};

TEST_F(Handlers, result_when_a_file_then_its_bytes_are_read) {
  const ResultFile file(std::string(block_bytes, 'f') + "end");
  handle(function([&](jobs::Job) { return Result::file(file.path, "image/png"); }));
  const auto job = post("/jobs/own");
  run_all();
  EXPECT_EQ(described(job)["result"]["content_type"], "image/png");
  EXPECT_EQ(call("GET", job + "/result").body, std::string(block_bytes, 'f') + "end");
}

TEST_F(Handlers, result_when_its_file_cannot_be_read_then_the_job_fails) {
  handle(function([](jobs::Job job) { return Result::file(job.read().value_or(""), "x/y"); }));
  for (const std::string path : {"/no/such/file", "/tmp", "/dev/zero"}) {
    EXPECT_EQ(failure(post("/jobs/own", path)),
              "no_result_file: the file of the result cannot be read: " + path);
  }
}

TEST_F(Handlers, result_when_larger_than_the_kind_allows_then_the_job_fails) {
  handle(function([](jobs::Job job) {
           Result result("", "x/y");
           while (auto piece = job.read()) result.append(std::move(*piece));
           return result;
         }),
         {.max_result_bytes = 4});
  const auto fits = post("/jobs/own", "four");
  EXPECT_EQ(failure(post("/jobs/own", "fives")),
            "result_too_large: the result is larger than 4 bytes");
  EXPECT_EQ(call("GET", fits + "/result").body, "four");
}

TEST_F(Handlers, result_when_its_content_type_would_break_the_reply_then_the_job_fails) {
  handle(function([](jobs::Job job) { return Result("", job.read().value_or("")); }));
  for (const auto* type : {"", "text/plain\r\nX: y", "t\xc3\xa9xt/plain"}) {
    EXPECT_THAT(failure(post("/jobs/own", type)), testing::StartsWith("bad_content_type: "));
  }
}

}  // namespace
}  // namespace heistd
