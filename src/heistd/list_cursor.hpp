// ListCursor: where a list goes on, as a text that says nothing to clients.
#pragma once

#include <array>
#include <heistd/journal/job_record.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace heistd {

/// Encrypts places in the order of acceptance, which would tell a client how many jobs the others
/// have (SEC-1). The key lasts as long as this.
class ListCursor {
 public:
  /// Errors: std::system_error when the system has no random bits.
  ListCursor();

  /// Errors: std::bad_alloc.
  [[nodiscard]] std::string seal(AcceptanceOrder order) const;
  /// Nothing when seal() has not given the text.   Errors: std::bad_alloc.
  [[nodiscard]] std::optional<AcceptanceOrder> open(std::string_view text) const;

 private:
  std::array<unsigned char, 16> key_{};
};

}  // namespace heistd
