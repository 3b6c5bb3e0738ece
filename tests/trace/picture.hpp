// Picture: what a viewer would show of a file that a Trace has written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <heist/trace.hpp>
#include <map>
#include <string>
#include <vector>

namespace heist::test {

struct Mark {
  std::string shape;  ///< begin, end or instant
  std::string track;  ///< the thread's name
  std::string name;
  double time = 0;  ///< in the file's unit
  std::map<std::string, std::uint64_t> arguments;
  std::vector<std::uint64_t> begins;  ///< arrows
  std::vector<std::uint64_t> ends;
};

struct Picture {
  std::string process;
  std::vector<std::string> tracks;
  std::vector<Mark> marks;

  [[nodiscard]] std::vector<Mark> all(const std::string& name) const {
    std::vector<Mark> found;
    std::ranges::copy_if(marks, std::back_inserter(found),
                         [&](const Mark& mark) { return mark.name == name; });
    return found;
  }
};

enum class Format { perfetto, json };

/// Writes the trace into a file of the test, and reads that as others do: protoc decodes Perfetto's
/// format, and a library of JSON the other one. Fails the test when they cannot.
[[nodiscard]] Picture picture_of(const Trace& trace, Format format);

}  // namespace heist::test
