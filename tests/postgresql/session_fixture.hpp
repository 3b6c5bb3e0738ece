// SessionFixture: sessions with the server that scripts/with_postgresql has started.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <heistd/postgresql/postgres_session.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heistd {

/// Calls and events run within `await`.
class SessionFixture : public testing::Test {
 protected:
  SessionFixture() {
    call("DROP SCHEMA IF EXISTS tested CASCADE");
    call("CREATE SCHEMA tested");
  }
  ~SessionFixture() override {
    other_.reset();
    io_.restart();
    io_.poll();
  }

  /// Empty: the server that the environment names.
  std::unique_ptr<PostgresSession> open(PostgresLimits limits = {},
                                        PostgresSession::Events events = {},
                                        const std::string& target = "",
                                        std::optional<PostgresCall> opening = std::nullopt) {
    limits.first_pause = std::chrono::milliseconds(10);
    limits.longest_pause = std::chrono::milliseconds(100);
    return std::make_unique<PostgresSession>(io_.get_executor(), PostgresTarget(target), limits,
                                             std::move(events), std::move(opening));
  }

  void await(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "it does not become true";
      io_.restart();
      io_.run_one_for(std::chrono::milliseconds(100));
    }
  }

  /// Answers of many calls, in the order in which they came.
  class Answers {
   public:
    PostgresSession::Done next() {
      const auto number = asked_++;
      return [this, number](PostgresResult result) {
        order_.push_back(number);
        results_.push_back(std::move(result));
      };
    }
    [[nodiscard]] bool are_there() const { return results_.size() == asked_; }
    [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }
    [[nodiscard]] const PostgresResult& operator[](std::size_t place) const {
      return results_.at(place);
    }

   private:
    std::size_t asked_ = 0;
    std::vector<std::size_t> order_;
    std::vector<PostgresResult> results_;
  };

  /// A call, and its answer.   The name of a statement is its text.
  template <class... Values>
  PostgresResult ask(PostgresSession& session, const char* text, const Values&... values) {
    Answers answers;
    session.ask({{text, text}, PostgresParameters(values...)}, answers.next());
    await([&] { return answers.are_there(); });
    return std::move(const_cast<PostgresResult&>(answers[0]));
  }
  /// The same on another connection; it must succeed.
  template <class... Values>
  PostgresRows call(const char* text, const Values&... values) {
    if (!other_) other_ = open();
    auto result = ask(*other_, text, values...);
    EXPECT_TRUE(result.has_value()) << text << ": " << describe(error_of(result));
    return result.has_value() ? std::move(*result) : PostgresRows();
  }
  template <class T, class... Values>
  T one(const char* text, const Values&... values) {
    return call(text, values...).template get<T>(0, 0);
  }

  static PostgresError error_of(const PostgresResult& result) {
    return result.has_error() ? result.error() : PostgresError{.message = "there is none"};
  }
  static PostgresCall statement(const char* text) { return {{text, text}}; }
  boost::asio::io_context& io() { return io_; }

 private:
  boost::asio::io_context io_{1};
  std::unique_ptr<PostgresSession> other_;
};

}  // namespace heistd
