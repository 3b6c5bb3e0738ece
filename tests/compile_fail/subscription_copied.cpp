// EXPECT: deleted|implicitly-deleted
#include <heist/abort_signal.hpp>
#include <utility>

heist::Subscription duplicate(heist::Subscription& subscription) {
#ifdef HEIST_EXPECT_OK
  return std::move(subscription);
#else
  heist::Subscription copy = subscription;
  return copy;
#endif
}
