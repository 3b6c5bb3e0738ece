#include "scenarios/replay/member_types.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <heist/priority.hpp>
#include <string>

namespace heist::test::member {

namespace {

using Json = nlohmann::json;

bool is_text(const Json& json) { return json.is_string(); }
bool is_time(const Json& json) {
  constexpr auto last_of_javascript = (std::uint64_t{1} << 53U) - 1;
  return json.is_number_unsigned() && json.get<std::uint64_t>() <= last_of_javascript;
}
bool is_flag(const Json& json) { return json.is_boolean(); }
bool is_array(const Json& json) { return json.is_array(); }
bool is_texts(const Json& json) { return json.is_array() && std::ranges::all_of(json, is_text); }
bool is_priority(const Json& json) {
  return json.is_string() && parse_task_priority(json.get<std::string>()).has_value();
}
bool is_event(const Json& json) { return json == "abort" || json == "prioritychange"; }
bool is_value(const Json& json) {
  return json.is_null() || json.is_boolean() || json.is_number_integer() || json.is_string();
}
bool names_one(const Json& json, const char* what) {
  return json.is_object() && json.size() == 1 && json.contains(what) && json[what].is_string();
}
bool is_result(const Json& json) { return is_value(json) || names_one(json, "task"); }
bool is_followed(const Json& json) { return is_priority(json) || names_one(json, "signal"); }
bool is_number(const Json& json) { return json.is_number(); }
bool is_duration(const Json& json) { return json.is_number() && json.get<double>() >= 0; }
bool is_count(const Json& json) {
  return is_duration(json) && std::floor(json.get<double>()) == json.get<double>();
}

}  // namespace

const MemberType text{is_text, "a string"};
const MemberType time{is_time, "a number of milliseconds"};
const MemberType flag{is_flag, "true"};
const MemberType array{is_array, "an array"};
const MemberType texts{is_texts, "an array of strings"};
const MemberType priority{is_priority, "a priority"};
const MemberType event{is_event, "abort or prioritychange"};
const MemberType value{is_value, "null, a boolean, an integer or a string"};
const MemberType result{is_result, "a value or the name of a task"};
const MemberType followed{is_followed, "a priority or the name of a signal"};
const MemberType real{is_number, "a number"};
const MemberType duration{is_duration, "a duration"};
const MemberType count{is_count, "a count"};

}  // namespace heist::test::member
