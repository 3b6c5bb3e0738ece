// Kinds of a program's own: their names, their parameters, their results.
#include <gmock/gmock.h>

#include <stdexcept>

#include "api_fixture.hpp"

namespace heistd {
namespace {

/// The upload, once more, with what the parameter says in front of it.
class EchoWork final : public JobWork {
 public:
  EchoWork(Blocks body, std::string greeting)
      : body_(std::move(body)), greeting_(std::move(greeting)) {}

  bool step(std::chrono::nanoseconds /*budget*/) override { return true; }
  Blocks give_up_body() noexcept override { return std::move(body_); }
  JobResult take_result() override {
    auto data = std::make_shared<Blocks>();
    data->push_back(greeting_ + join(body_));
    return BytesResult{"text/plain", std::move(data)};
  }

 private:
  Blocks body_;
  std::string greeting_;
};

std::optional<JobFailure> refuse_rudeness(const std::string& value) {
  if (value != "pah") return std::nullopt;
  return JobFailure("rude", "say something else");
}

Kind echo_kind(std::string name = "echo") {
  Kind kind;
  kind.name = std::move(name);
  kind.label = "echo";
  kind.parameters = {
      {.name = "greeting", .required = true, .most = 8, .check = refuse_rudeness},
      {.name = "times", .type = ParameterType::integer, .least = 1, .most = 9},
  };
  kind.working_bytes = [](std::size_t bytes) { return bytes; };
  kind.make_work = [](JobInput input) {
    return std::make_unique<EchoWork>(std::move(input.body), input.parameters.at("greeting"));
  };
  return kind;
}

struct OwnKinds : ApiFixture {
  OwnKinds()
      : ApiFixture({}, [] {
          auto kinds = builtin_kinds();
          kinds.add(echo_kind());
          return kinds;
        }()) {}
};

TEST_F(OwnKinds, job_when_its_kind_was_added_then_it_runs_as_any_other) {
  const auto waits = call("POST", "/jobs/echo?greeting=hi+&wait=1", "bytes");
  ASSERT_TRUE(waits.waiting);
  run_all();
  const auto reply = api.waited(*waits.waiting->job);
  EXPECT_EQ(reply.content_type, "text/plain");
  EXPECT_EQ(join(reply.body), "hi bytes");
  const auto job = call("GET", "/jobs/" + waits.waiting->job->id).json();
  EXPECT_EQ(job["kind"], "echo");
  EXPECT_EQ(job["result"]["bytes"], 8);
  EXPECT_EQ(job["result"]["content_type"], "text/plain");
}

TEST_F(OwnKinds, request_when_a_parameter_is_wrong_then_400_names_it) {
  const auto refused = [this](std::string_view query) {
    const auto answer = call("POST", "/jobs/echo?" + std::string(query), "bytes");
    EXPECT_EQ(answer.status, 400U) << query;
    return answer.error() + " " + answer.field();
  };
  EXPECT_EQ(refused("times=2"), "bad_parameter greeting");
  EXPECT_EQ(refused("greeting=too+long+by+far"), "bad_parameter greeting");
  EXPECT_EQ(refused("greeting=hi&times=10"), "bad_parameter times");
  EXPECT_EQ(refused("greeting=hi&pattern=x"), "bad_parameter pattern");
  EXPECT_EQ(refused("greeting=pah"), "rude greeting");
}

TEST_F(OwnKinds, request_when_another_value_was_refused_then_its_own_is_checked) {
  static_cast<void>(call("POST", "/jobs/echo?greeting=pah", "bytes"));
  EXPECT_EQ(call("POST", "/jobs/echo?greeting=hi", "bytes").status, 202U);
  EXPECT_EQ(call("POST", "/jobs/echo?greeting=hi&times=2", "bytes").status, 202U);
}

TEST(KindTableNames, add_when_a_name_cannot_be_used_then_it_is_refused) {
  KindTable kinds;
  kinds.add(echo_kind());
  const auto refusal = [&kinds](Kind kind) {
    try {
      kinds.add(std::move(kind));
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal(echo_kind()), HasSubstr("two kinds of the name echo"));
  EXPECT_THAT(refusal(echo_kind("a/b")), HasSubstr("\"a/b\""));
  EXPECT_THAT(refusal(echo_kind(std::string(32, 'a'))), HasSubstr("no job's id"));
  EXPECT_THAT(refusal(echo_kind("requeue")), HasSubstr("POST /jobs/requeue"));
  auto kind = echo_kind("other");
  for (const std::string name : {"wait", "max_attempts"}) {
    kind.parameters[1].name = name;
    EXPECT_THAT(refusal(kind),
                HasSubstr('"' + name + "\" of the kind other has a name that is taken"));
  }
  kind.parameters[1].name = "greeting";
  EXPECT_THAT(refusal(kind), HasSubstr("\"greeting\" of the kind other"));
  kind.parameters[1].name = "a b";
  EXPECT_THAT(refusal(kind), HasSubstr("\"a b\" of the kind other must be"));
}

}  // namespace
}  // namespace heistd
