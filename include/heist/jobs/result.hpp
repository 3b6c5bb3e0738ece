// Result: what a job gives.
#pragma once

#include <cstddef>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>
#include <string>
#include <utility>
#include <vector>

namespace HEIST_NAMESPACE::jobs {

/// What a handler returns: bytes, or a file, of some content type. Move-only.
///
/// Thread: one at a time.
class HEIST_EXPORT Result {
 public:
  /// Bytes.
  // NOLINTNEXTLINE(google-explicit-constructor): `co_return text;` is the point.
  Result(std::string bytes, std::string content_type = "text/plain; charset=utf-8")
      : content_type_(std::move(content_type)) {
    append(std::move(bytes));
  }
  /// The bytes of a regular file, which the server reads once the handler has ended, and keeps in
  /// memory as it does other results. The file stays as it is.
  [[nodiscard]] static Result file(std::string path, std::string content_type) {
    Result result({}, std::move(content_type));
    result.path_ = std::move(path);
    return result;
  }

  Result(Result&&) noexcept = default;
  Result& operator=(Result&&) noexcept = default;
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  ~Result() = default;

  /// Adds bytes behind those that are there; pieces are not copied.
  void append(std::string bytes) {
    if (!bytes.empty()) pieces_.push_back(std::move(bytes));
  }

  /// What a reply with these bytes says they are.
  [[nodiscard]] const std::string& content_type() const noexcept { return content_type_; }
  /// Empty when it is no file.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Takes the bytes out, in the pieces that they came in.
  [[nodiscard]] std::vector<std::string> take_pieces() noexcept { return std::move(pieces_); }

 private:
  std::string content_type_;
  std::string path_;
  std::vector<std::string> pieces_;
};

}  // namespace HEIST_NAMESPACE::jobs
