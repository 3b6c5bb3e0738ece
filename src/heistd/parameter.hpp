// Parameter: what a kind of job says of one of the parameters that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <heistd/job_failure.hpp>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// The parameters of a job by their names, as texts. A job can be made again from these.
using Parameters = std::map<std::string, std::string, std::less<>>;

enum class ParameterType : std::uint8_t {
  text,
  integer,  ///< of 64 bits
  number,   ///< `2`, `-0.5`, `1e3`
  flag,     ///< `0` or `1`
};

/// One parameter of a kind.
struct Parameter {
  std::string name;
  ParameterType type = ParameterType::text;
  bool required = false;
  /// Bounds: of a text's size in bytes, of an integer's or number's value.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  /// Says what is wrong with a value of the right type, within the bounds; nothing when it is good.
  /// May be empty. An agent calls it before the upload is read, so it may cost a chunk's time.
  std::function<std::optional<JobFailure>(const std::string& value)> check = {};
  std::size_t check_bytes = 0;  ///< memory that the check may take
};

/// What is wrong with the type or the size of a value; nothing when they are good.
[[nodiscard]] std::optional<std::string> complaint_about(const Parameter& parameter,
                                                         std::string_view value);

}  // namespace heistd
