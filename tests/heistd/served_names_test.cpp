// SEC-1: web pages of others can neither use a heistd on their reader's machine nor read from it.
#include <gtest/gtest.h>

#include <heistd/served_names.hpp>

namespace heistd {
namespace {

struct ServedNamesTest : testing::Test {
  const ServedNames names{{"Build.Example", "[2001:DB8:0:0::1]"}};
  std::string local = "192.0.2.1";

  std::string code(const Sender& sender) const {
    const auto refusal = names.check(sender, local);
    return refusal ? std::to_string(refusal->status) + " " + refusal->code : "";
  }
  std::string of_host(std::string_view host, std::string_view target = "/") const {
    return code({.target = target, .host = host, .origin = {}, .fetch_site = {}});
  }
  std::string of_origin(std::string_view origin, std::string_view host = "localhost:8080") const {
    return code({.target = "/", .host = host, .origin = origin, .fetch_site = {}});
  }
  std::string of_site(std::string_view site) const {
    return code({.target = "/", .host = "localhost", .origin = {}, .fetch_site = site});
  }
};

TEST_F(ServedNamesTest, host_when_it_is_a_name_of_the_server_then_accepted) {
  for (const auto* host : {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "[::1]",
                           "[::1]:8080", "[0:0:0:0:0:0:0:1]", "192.0.2.1:8080", "build.example",
                           "BUILD.example:80", "[2001:db8::1]:8080"}) {
    EXPECT_EQ(of_host(host), "") << host;
  }
}

TEST_F(ServedNamesTest, host_when_it_is_another_name_then_421) {
  for (const auto* host :
       {"", ":8080", "evil.test", "localhost.evil.test", "evil.test:8080", "localhost:80:80",
        "localhost:x", "localhost@evil.test", "evil.test#localhost", "127.0.0.2", "::1", "[::2]",
        "[::1", "[::1]evil", "[localhost]", "localhost.", "192.0.2.2", "0.0.0.0", "localhost, x"}) {
    EXPECT_EQ(of_host(host), "421 bad_host") << host;
  }
}

TEST_F(ServedNamesTest, target_when_it_is_a_url_then_its_host_counts_as_well) {
  EXPECT_EQ(of_host("localhost", "http://localhost:8080/stats?a=b"), "");
  EXPECT_EQ(of_host("localhost", "/stats?url=http://evil.test/"), "");
  for (const auto* target : {"http://evil.test/stats", "http://evil.test", "HTTP://evil.test?x=/",
                             "http://localhost@evil.test/", "http://localhost.evil.test/"}) {
    EXPECT_EQ(of_host("localhost", target), "421 bad_host") << target;
  }
}

TEST_F(ServedNamesTest, host_when_there_is_none_then_accepted_as_no_browser_asks_like_that) {
  EXPECT_EQ(code({.target = "/", .host = {}, .origin = {}, .fetch_site = {}}), "");
}

TEST_F(ServedNamesTest, origin_when_it_is_the_servers_own_then_accepted) {
  EXPECT_EQ(of_origin("http://localhost:8080"), "");
  EXPECT_EQ(of_origin("http://LOCALHOST:8080", "localhost:8080"), "");
  EXPECT_EQ(of_origin("http://localhost", "localhost:80"), "");
  EXPECT_EQ(of_origin("http://[::1]:8080", "[::1]:8080"), "");
}

TEST_F(ServedNamesTest, origin_when_it_is_another_then_403) {
  for (const auto* origin :
       {"", "null", "http://evil.test", "http://localhost", "http://localhost:8081",
        "https://localhost:8080", "http://127.0.0.1:8080", "http://evil.test:8080",
        "http://localhost:8080.evil.test", "localhost:8080", "file://"}) {
    EXPECT_EQ(of_origin(origin), "403 foreign_origin") << origin;
  }
  EXPECT_EQ(code({.target = "/", .host = {}, .origin = "http://localhost", .fetch_site = {}}),
            "403 foreign_origin");
}

// Rule: SEC-3
TEST_F(ServedNamesTest, origin_when_the_server_has_tls_then_its_own_is_of_https) {
  const auto of_tls = [this](std::string_view origin, std::string_view host) {
    return code({.target = "/", .host = host, .origin = origin, .fetch_site = {}, .has_tls = true});
  };
  EXPECT_EQ(of_tls("https://localhost:8080", "localhost:8080"), "");
  EXPECT_EQ(of_tls("https://localhost", "localhost:443"), "");
  EXPECT_EQ(of_tls("https://localhost:443", "localhost"), "");
  for (const auto* origin : {"http://localhost:8080", "http://localhost", "https://localhost:80",
                             "https://evil.test", "https://localhost"}) {
    EXPECT_EQ(of_tls(origin, "localhost:8080"), "403 foreign_origin") << origin;
  }
}

TEST_F(ServedNamesTest, fetch_site_when_another_sites_page_asks_then_403) {
  EXPECT_EQ(of_site("none"), "");
  EXPECT_EQ(of_site("same-origin"), "");
  for (const auto* site : {"cross-site", "same-site", "", "new"}) {
    EXPECT_EQ(of_site(site), "403 foreign_origin") << site;
  }
}

TEST(IsHostName, text_when_it_has_a_port_or_a_scheme_then_false) {
  for (const auto* name : {"localhost", "a.b-c.example", "192.0.2.1", "[::1]"}) {
    EXPECT_TRUE(is_host_name(name)) << name;
  }
  for (const auto* name : {"", "a:80", "http://a", "a/b", "*", "a b", "[::1]:80", "[a]", "::1"}) {
    EXPECT_FALSE(is_host_name(name)) << name;
  }
}

}  // namespace
}  // namespace heistd
