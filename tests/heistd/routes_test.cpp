#include <gtest/gtest.h>

#include <heistd/builtin/builtin_kinds.hpp>
#include <heistd/routes.hpp>

namespace heistd {
namespace {

const std::string id(32, 'a');

Result<Route> route(std::string_view method, const std::string& path) {
  static const auto kinds = builtin_kinds();
  return find_route(method, *parse_target(path), kinds);
}

TEST(Routes, find_when_known_then_resource_method_and_name) {
  const auto job = route("DELETE", "/jobs/" + id);
  ASSERT_TRUE(job);
  EXPECT_EQ(job->resource, Resource::job);
  EXPECT_EQ(job->method, Method::erase);
  EXPECT_EQ(job->name, id);
  EXPECT_EQ(route("POST", "/jobs/search")->resource, Resource::kind);
  EXPECT_EQ(route("GET", "/jobs/" + id + "/result")->resource, Resource::job_result);
  EXPECT_EQ(route("POST", "/jobs/" + id + "/requeue")->resource, Resource::job_requeue);
  EXPECT_EQ(route("GET", "/jobs")->resource, Resource::jobs);
  EXPECT_EQ(route("POST", "/jobs")->method, Method::post);
  EXPECT_EQ(route("PUT", "/signals/x")->resource, Resource::signal);
  EXPECT_EQ(route("HEAD", "/stats")->method, Method::get);
  EXPECT_EQ(route("GET", "/events")->resource, Resource::events);
  EXPECT_EQ(route("GET", "/")->resource, Resource::page);
  EXPECT_EQ(route("GET", "/page.js")->name, "page.js");
  EXPECT_EQ(route("GET", "/kinds")->resource, Resource::kinds);
  EXPECT_EQ(route("POST", "/kinds/digest/pause")->resource, Resource::kind_pause);
  EXPECT_EQ(route("POST", "/kinds/digest/resume")->name, "digest");
  EXPECT_EQ(route("POST", "/signals/x/resume")->resource, Resource::signal_resume);
  EXPECT_EQ(route("GET", "/signals")->resource, Resource::signals);
  EXPECT_EQ(route("GET", "/healthz")->resource, Resource::health);
  EXPECT_EQ(route("GET", "/debug/dump")->resource, Resource::dump);
  EXPECT_EQ(route("GET", "/debug/trace")->resource, Resource::trace);
}

TEST(Routes, find_when_path_unknown_then_404) {
  for (const std::string& path :
       {std::string("/page.html"), std::string("/jobs/"), std::string("/jobs/other"),
        std::string("/kinds/x"), std::string("/kinds/x/pause"), "/jobs/" + id + "x",
        "/jobs/" + id + "/other", std::string("/jobs/digest/result"), std::string("/healthz/"),
        std::string("/Stats"), std::string("/signals/a/b"), std::string("/debug"),
        std::string("/debug/other"), "/jobs/" + std::string(32, 'A')}) {
    const auto found = route("GET", path);
    ASSERT_FALSE(found) << path;
    EXPECT_EQ(found.error().status, 404U) << path;
  }
}

TEST(Routes, find_when_method_wrong_then_405_names_the_right_ones) {
  const auto allow = [](std::string_view method, const std::string& path) {
    const auto found = route(method, path);
    EXPECT_FALSE(found);
    EXPECT_EQ(found.error().status, 405U);
    return found.error().allow;
  };
  EXPECT_EQ(allow("GET", "/jobs/digest"), "POST");
  EXPECT_EQ(allow("PUT", "/drain"), "GET, HEAD, POST");
  EXPECT_EQ(allow("PUT", "/jobs"), "GET, HEAD, POST, DELETE");
  EXPECT_EQ(allow("GET", "/jobs/requeue"), "POST");
  EXPECT_EQ(allow("POST", "/jobs/" + id), "GET, HEAD, PUT, DELETE");
  EXPECT_EQ(allow("GET", "/signals/x"), "PUT, DELETE");
  EXPECT_EQ(allow("DELETE", "/stats"), "GET, HEAD");
  EXPECT_EQ(allow("get", "/stats"), "GET, HEAD");
}

TEST(Routes, find_when_signal_name_wrong_then_400_names_it) {
  const auto found = route("PUT", "/signals/a%20b");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().status, 400U);
  EXPECT_EQ(found.error().field, "name");
}

}  // namespace
}  // namespace heistd
