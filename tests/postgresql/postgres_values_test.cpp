// Values of all types go to the server and come back.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <typeinfo>

#include "postgresql/session_fixture.hpp"

namespace heistd {
namespace {

using std::optional;
using std::string_view;
using std::vector;

class PostgresValues : public SessionFixture {
 protected:
  PostgresValues() : session_(open()) {}

  /// What the server gives back when it is asked for the parameter; its type names the statement.
  template <class T, class Read = T>
  void expect_back(const T& value) {
    PostgresParameters parameters(value);
    Answers answers;
    session_->ask({{typeid(T).name(), "SELECT $1"}, std::move(parameters)}, answers.next());
    await([&] { return answers.are_there(); });
    ASSERT_TRUE(answers[0].has_value()) << describe(answers[0].error());
    EXPECT_EQ(answers[0]->template get<Read>(0, 0), value);
  }

 private:
  std::unique_ptr<PostgresSession> session_;
};

template <class T>
constexpr auto least = std::numeric_limits<T>::lowest();
template <class T>
constexpr auto most = std::numeric_limits<T>::max();

TEST_F(PostgresValues, value_when_it_is_at_the_edge_of_its_type_then_it_comes_back) {
  for (const auto value : {least<std::int16_t>, std::int16_t{-1}, most<std::int16_t>})
    expect_back(value);
  for (const auto value : {least<std::int32_t>, 0, most<std::int32_t>}) expect_back(value);
  for (const auto value : {least<std::int64_t>, std::int64_t{-256}, most<std::int64_t>})
    expect_back(value);
  for (const auto value : {least<double>, -0.0, 0.1, HUGE_VAL}) expect_back(value);
  expect_back(true);
  expect_back(false);
  for (const string_view value : {"", "a", "Käse ☃"}) expect_back(value);
  PostgresUuid uuid{};
  expect_back(uuid);
  uuid.fill(std::byte{0xFE});
  expect_back(uuid);
}

TEST_F(PostgresValues, time_when_it_is_early_late_or_infinite_then_it_comes_back) {
  using std::chrono::microseconds;
  const PostgresTime first = std::chrono::sys_days{std::chrono::year{-4000} / 1 / 1};
  for (const auto value :
       {PostgresTime(), PostgresTime(microseconds(-1)), first,
        PostgresTime::max() - microseconds(1), PostgresTime::min(), PostgresTime::max()}) {
    expect_back(value);
  }
}

TEST_F(PostgresValues, bytes_when_they_are_ten_million_of_all_kinds_then_they_come_back) {
  std::string bytes(10'000'000, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 7);
  expect_back(PostgresBytes{bytes});
  expect_back(PostgresBytes{});
}

TEST_F(PostgresValues, optional_when_it_is_empty_then_it_is_null) {
  expect_back(optional<std::int32_t>());
  expect_back(optional<std::int32_t>(7));
  expect_back(optional<string_view>());
  expect_back(optional<string_view>(""));
  expect_back(optional<PostgresTime>());
}

TEST_F(PostgresValues, array_when_it_has_any_elements_then_it_comes_back) {
  expect_back(vector<std::int64_t>());
  expect_back(vector<std::int64_t>{1, least<std::int64_t>});
  expect_back(vector<std::int16_t>{-1});
  expect_back(vector<bool>{true, false});
  expect_back(vector<double>{0.5});
  expect_back(vector<PostgresUuid>(3));
  expect_back(vector<PostgresTime>{PostgresTime(), PostgresTime::max()});
  expect_back(vector<string_view>{"", "NULL", "a,b\"}"});
  expect_back(vector<PostgresBytes>{{string_view("\0\1", 2)}, {""}});
  expect_back(vector<optional<std::int32_t>>{1, {}, 3});
  expect_back(vector<optional<string_view>>{{}, "", {}});
}

TEST_F(PostgresValues, value_when_the_server_shows_it_then_it_is_what_was_meant) {
  EXPECT_EQ(one<bool>("SELECT $1 = -2.5::float8", -2.5), true);
  EXPECT_EQ(one<bool>("SELECT $1 = '2026-11-29 01:02:03.000004+00'::timestamptz",
                      PostgresTime(std::chrono::sys_days{std::chrono::year{2026} / 11 / 29} +
                                   std::chrono::microseconds(3'723'000'004))),
            true);
  PostgresUuid uuid{};
  uuid[0] = std::byte{0x12};
  EXPECT_EQ(one<bool>("SELECT $1 = '12000000-0000-0000-0000-000000000000'::uuid", uuid), true);
  EXPECT_EQ(one<bool>("SELECT $1 = '{1,-2}'::int8[]", vector<std::int64_t>{1, -2}), true);
  EXPECT_EQ(one<bool>("SELECT $1 = 'infinity'::timestamptz", PostgresTime::max()), true);
  EXPECT_EQ(one<std::int64_t>("SELECT $1 - 1", std::int32_t{least<std::int32_t>} + 0L),
            least<std::int32_t> - 1L);
}

TEST_F(PostgresValues, rows_when_there_are_several_then_each_field_is_read) {
  const auto rows =
      call("SELECT n, 'row ' || n, nullif(n, 2) FROM generate_series(1, 3) n ORDER BY n");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows.affected(), 3U);
  EXPECT_EQ(rows.get<std::int32_t>(2, 0), 3);
  EXPECT_EQ(rows.get<string_view>(1, 1), "row 2");
  EXPECT_EQ(rows.get<optional<std::int32_t>>(1, 2), std::nullopt);
  EXPECT_EQ(rows.get<optional<std::int32_t>>(2, 2), 3);
}

TEST_F(PostgresValues, field_when_it_is_read_as_something_else_then_that_is_a_logic_error) {
  const auto rows = call("SELECT 1, NULL::int8, ARRAY[NULL::int4]");
  EXPECT_THROW(static_cast<void>(rows.get<std::int64_t>(0, 0)), std::logic_error);
  EXPECT_THROW(static_cast<void>(rows.get<std::int64_t>(0, 1)), std::logic_error);
  EXPECT_THROW(static_cast<void>(rows.get<vector<std::int32_t>>(0, 2)), std::logic_error);
  EXPECT_THROW(static_cast<void>(rows.get<std::int32_t>(0, 3)), std::logic_error);
  EXPECT_THROW(static_cast<void>(rows.get<std::int32_t>(1, 0)), std::logic_error);
  EXPECT_THROW(static_cast<void>(PostgresRows().get<std::int32_t>(0, 0)), std::logic_error);
}

TEST_F(PostgresValues, ask_when_the_types_are_others_than_before_then_that_is_a_logic_error) {
  const auto session = open();
  EXPECT_TRUE(ask(*session, "SELECT $1", 1).has_value());
  EXPECT_THROW(static_cast<void>(ask(*session, "SELECT $1", true)), std::logic_error);
}

}  // namespace
}  // namespace heistd
