#include <algorithm>
#include <heistd/json.hpp>
#include <heistd/json_text.hpp>

namespace heistd {
namespace {

bool is_ascii(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char byte) { return static_cast<signed char>(byte) >= 0; });
}

}  // namespace

void JsonText::key(std::string_view key) {
  writer_.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
}

void JsonText::member(std::string_view key, std::string_view text) {
  this->key(key);
  if (text.empty()) {
    writer_.String("");  // it may have no address
  } else if (is_ascii(text)) {
    writer_.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
  } else {
    const std::string checked = line(Json(text));
    writer_.RawValue(checked.data(), checked.size(), rapidjson::kStringType);
  }
}

void JsonText::member(std::string_view key, double number) {
  this->key(key);
  writer_.Double(number);
}

void JsonText::null_member(std::string_view key) {
  this->key(key);
  writer_.Null();
}

void JsonText::raw_member(std::string_view key, std::string_view json) {
  this->key(key);
  writer_.RawValue(json.data(), json.size(), rapidjson::kObjectType);
}

}  // namespace heistd
