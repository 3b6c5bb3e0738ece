// Target: the path and the query of a request.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace heistctl {

class Target {
 public:
  /// Of a path whose parts are written as they are.
  explicit Target(std::string path) : text_(std::move(path)) {}

  /// One more part of the path, whatever its bytes.
  Target& part(std::string_view text);
  /// One more parameter of the query.
  Target& parameter(std::string_view name, std::string_view value);

  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  bool has_query_ = false;
};

/// /jobs/ID
[[nodiscard]] Target job_target(std::string_view id);

}  // namespace heistctl
