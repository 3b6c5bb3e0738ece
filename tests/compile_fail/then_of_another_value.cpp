// EXPECT: the callback cannot be called with the promise's value
#include <heist/promise.hpp>
#include <string>

void use(const heist::Promise<int>& promise) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(promise.then([](int value) { return value; }));
#else
  static_cast<void>(promise.then([](const std::string& value) { return value.size(); }));
#endif
}
