// EXPECT: the value is move-only and stays with a promise that has a name
#include <heist/promise.hpp>
#include <memory>
#include <utility>

void use(heist::Promise<std::unique_ptr<int>> promise) {
#ifdef HEIST_EXPECT_OK
  static_cast<void>(std::move(promise).then([](std::unique_ptr<int> value) { return *value; }));
#else
  const auto number = promise.then([](std::unique_ptr<int> value) { return *value; });
  static_cast<void>(number);
#endif
}
