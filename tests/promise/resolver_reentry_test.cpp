// Rule: PRO-1: making the value runs users' code, which may use the resolver that makes it.
#include <gtest/gtest.h>

#include <heist/heist.hpp>
#include <stdexcept>
#include <string>

#include "api/probes.hpp"

namespace heist {
namespace {

enum class Meanwhile { resolve, reject, reject_and_throw };

/// Settles its own promise while it is made.
struct Hasty {
  explicit Hasty(const char* given) : text(given) {}
  Hasty(Resolver<Hasty>& resolver, Meanwhile meanwhile) : text("outer") {
    if (meanwhile == Meanwhile::resolve) {
      resolver.resolve("inner");
    } else {
      resolver.reject(Reason("inner"));
    }
    if (meanwhile == Meanwhile::reject_and_throw) throw std::domain_error("no value");
  }
  std::string text;
};

class Pro1Reentry : public testing::Test {
 protected:
  PromiseWithResolver<Hasty> pair = Promise<Hasty>::with_resolver();
};

// Rule: PRO-1
TEST_F(Pro1Reentry, resolve_when_its_value_resolves_meanwhile_then_the_outer_call_wins) {
  pair.resolver.resolve(pair.resolver, Meanwhile::resolve);
  EXPECT_EQ(pair.promise.get().text, "outer");
}

// Rule: PRO-1
TEST_F(Pro1Reentry, resolve_when_its_value_rejects_meanwhile_then_the_outer_call_wins) {
  pair.resolver.resolve(pair.resolver, Meanwhile::reject);
  ASSERT_EQ(pair.promise.status(), PromiseStatus::fulfilled);
  EXPECT_EQ(pair.promise.get().text, "outer");
}

// Rule: PRO-1. The outer call came first and failed, so the promise is still to settle.
TEST_F(Pro1Reentry, resolve_when_its_value_rejects_and_throws_then_the_resolver_is_still_usable) {
  EXPECT_THROW(pair.resolver.resolve(pair.resolver, Meanwhile::reject_and_throw),
               std::domain_error);
  EXPECT_FALSE(pair.promise.settled());
  pair.resolver.resolve("later");
  EXPECT_EQ(pair.promise.get().text, "later");
}

}  // namespace
}  // namespace heist
