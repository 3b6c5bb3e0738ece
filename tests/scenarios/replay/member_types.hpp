// The types of members that FORMAT.md has, each as a predicate.
#pragma once

#include <nlohmann/json.hpp>

namespace heist::test {

/// A type, and what it is called in an error.
struct MemberType {
  bool (*accepts)(const nlohmann::json&);
  const char* name;
};

namespace member {

extern const MemberType text;
extern const MemberType time;  ///< milliseconds
extern const MemberType flag;
extern const MemberType array;
extern const MemberType texts;
extern const MemberType priority;
extern const MemberType event;
extern const MemberType value;     ///< what a task returns, and the reason of an abort
extern const MemberType result;    ///< a value, or another task's promise
extern const MemberType followed;  ///< a priority, or a signal that gives it
// Of the cooperative corpus.
extern const MemberType real;
extern const MemberType duration;  ///< milliseconds, with fractions
extern const MemberType count;

}  // namespace member
}  // namespace heist::test
