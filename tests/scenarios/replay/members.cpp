#include "scenarios/replay/members.hpp"

#include "scenarios/replay/steps.hpp"

namespace heist::test {

void check_member(const Json& object, std::string name, const MemberType& type) {
  const bool is_optional = name.back() == '?';
  if (is_optional) name.pop_back();
  if (!object.contains(name)) {
    if (is_optional) return;
    throw std::invalid_argument("without " + name);
  }
  if (type.accepts(object[name])) return;
  throw std::invalid_argument(name + " is not " + type.name + ": " + object[name].dump());
}

void check_members(const Json& object, const Members& members, const std::string& key) {
  for (const auto& [name, type] : members) check_member(object, name, type);
  for (const auto& [name, value] : object.items()) {
    const bool is_known = members.contains(name) || members.contains(name + "?");
    if (!is_known && name != key && name != "op") {
      throw std::invalid_argument("with an unknown member " + name);
    }
  }
}

void check_row(const Json& object, const Table& table, const char* key) {
  check_member(object, key, member::text);
  const auto row = table.find(text_of(object, key));
  if (row == table.end()) throw std::invalid_argument("unknown " + text_of(object, key));
  check_members(object, row->second, key);
}

}  // namespace heist::test
