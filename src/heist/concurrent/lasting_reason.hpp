// LastingReason: a reason that outlives every static object.
#pragma once

#include <heist/error.hpp>

namespace HEIST_NAMESPACE::detail {

/// This reason is made in advance and never destroyed, because static loops and resolvers may
/// settle promises with it while the program ends.
class LastingReason {
 public:
  template <class Error>
  explicit LastingReason(const Error& error) : reason_(error) {}
  LastingReason(const LastingReason&) = delete;
  LastingReason& operator=(const LastingReason&) = delete;
  ~LastingReason() {}  // NOLINT(modernize-use-equals-default): reason_ stays.

  [[nodiscard]] const Reason& get() const noexcept { return reason_; }

 private:
  union {
    Reason reason_;  // NOLINT(readability-identifier-naming): private all the same.
  };
};

}  // namespace HEIST_NAMESPACE::detail
