// Outgoing: the large replies that are on their way to one client.
#pragma once

#include <cstddef>
#include <heistd/blocks.hpp>
#include <heistd/quota.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace heistd {

/// Bounds the memory that is kept only because it has not been read yet. What goes to several
/// readers counts once, unless they ask for it at one moment; what fits into one block does not
/// count.
///
/// Thread: any.   Blocks: for as long as another thread looks one body up.   Lifetime: longer than
/// that of what is held.
class Outgoing {
 public:
  explicit Outgoing(std::size_t max_bytes) noexcept : bytes_(max_bytes) {}

  /// To be kept until the body has gone.
  using Hold = std::shared_ptr<const Quota::Share>;

  /// Nothing: there is no room for it. (Null is for a body that does not count.)
  [[nodiscard]] std::optional<Hold> hold(const SharedBlocks& body);

 private:
  [[nodiscard]] Hold find(const Blocks* body);
  void forget(const Blocks* body) noexcept;

  Quota bytes_;
  std::mutex mutex_;  ///< for the bodies that are held
  std::unordered_map<const Blocks*, std::weak_ptr<const Quota::Share>> held_;
};

}  // namespace heistd
