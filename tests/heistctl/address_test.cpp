#include <gtest/gtest.h>

#include <heistctl/address.hpp>
#include <heistctl/failure.hpp>

namespace heistctl {
namespace {

TEST(Address, parse_when_it_names_a_host_then_requests_go_there) {
  EXPECT_EQ(parse_address("http://localhost:8080").url, "http://localhost:8080");
  EXPECT_EQ(parse_address("http://[::1]:8080/").url, "http://[::1]:8080");
  EXPECT_EQ(parse_address("http://localhost:8080").unix_socket, "");
}

TEST(Address, parse_when_it_is_https_then_the_server_has_tls) {
  EXPECT_EQ(parse_address("https://localhost:8080/").url, "https://localhost:8080");
  EXPECT_TRUE(parse_address("https://localhost:8080").has_tls);
  EXPECT_FALSE(parse_address("http://localhost:8080").has_tls);
  EXPECT_FALSE(parse_address("unix:/run/heistd.sock").has_tls);
}

TEST(Address, parse_when_it_is_a_path_then_requests_go_to_that_socket) {
  const auto address = parse_address("unix:/run/heistd.sock");
  EXPECT_EQ(address.unix_socket, "/run/heistd.sock");
  EXPECT_EQ(address.url, "http://localhost");
  EXPECT_EQ(address.text, "unix:/run/heistd.sock");
}

class WrongAddress : public testing::TestWithParam<const char*> {};

TEST_P(WrongAddress, parse_then_it_is_a_failure_of_usage) {
  try {
    static_cast<void>(parse_address(GetParam()));
    FAIL() << "it was taken";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::usage);
    EXPECT_NE(std::string(failure.what()).find("HEIST_SERVER"), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Texts, WrongAddress,
                         testing::Values("", "localhost:8080", "http://", "ftp://localhost",
                                         "http://localhost/jobs", "http://localhost/?a=b",
                                         "http://name@localhost", "http://localhost:99999",
                                         "unix:", "unix:relative"));

}  // namespace
}  // namespace heistctl
