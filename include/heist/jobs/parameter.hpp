// Parameter: what a kind of job says of one of the parameters that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <heist/jobs/failure.hpp>
#include <heist/version.hpp>
#include <limits>
#include <optional>
#include <string>

namespace HEIST_NAMESPACE::jobs {

/// What the text of a parameter's value has to be.
enum class ParameterType : std::uint8_t {
  text,     ///< anything
  integer,  ///< of 64 bits
  number,   ///< `2`, `-0.5`, `1e3`
  flag,     ///< `0` or `1`
};

/// One parameter of a kind: `{.name = "width", .type = ParameterType::integer, .least = 1}`. A
/// request whose value is wrong, or that lacks a required one, is refused before its upload is
/// read: 400 `bad_parameter`, whose `field` is the parameter's name.
struct Parameter {
  std::string name;                          ///< 1 to 64 letters, digits, `.`, `_` or `-`
  ParameterType type = ParameterType::text;  ///< a value that is none is refused
  bool required = false;                     ///< whether a request without it is refused
  /// Bounds: of a text's size in bytes, of an integer's or number's value.
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  /// Says what is wrong with a value of the right type, within the bounds; nothing when it is good.
  /// The request is refused with 400 and the failure's code. May be empty.
  ///
  /// Thread: an agent, before the upload is read.   Cost: keep it within a chunk, 5 ms.
  std::function<std::optional<Failure>(const std::string& value)> check = {};
  std::size_t check_bytes = 0;  ///< memory that the check may take
};

}  // namespace HEIST_NAMESPACE::jobs
