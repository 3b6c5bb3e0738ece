// Which members an object of a scenario has, by tables.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "scenarios/replay/member_types.hpp"

namespace heist::test {

/// Members by name; one that may be absent has a `?` behind it, as in FORMAT.md.
using Members = std::map<std::string, MemberType>;
using Table = std::map<std::string, Members>;

// Errors of all: std::invalid_argument.

void check_member(const nlohmann::json& object, std::string name, const MemberType& type);
/// `key` names the table's row, and is a member beside those of the row.
void check_members(const nlohmann::json& object, const Members& members, const std::string& key);
void check_row(const nlohmann::json& object, const Table& table, const char* key);

/// Runs a check of what is at a place; an error says where.
template <class Check>
void at_place(const std::string& place, Check check) {
  try {
    check();
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(place + ": " + error.what());
  }
}

}  // namespace heist::test
