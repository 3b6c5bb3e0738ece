// ForkWatch: tells a child of fork() which of the objects that it inherited have their threads only
// in its parent.
#pragma once

#include <heist/version.hpp>
namespace HEIST_NAMESPACE::detail {

/// Watches over an object with threads of its own. When this process forks meanwhile, nobody runs
/// the child's copy of the object: it is lost there.
///
/// Thread: any. A mutex orders watches and forks. Posts and waits meet it only in a child that has
/// lost something.
class ForkWatch {
 public:
  /// Calls `when_lost(subject)` in each such child, before fork() returns there, on the child's
  /// only thread.
  ///
  /// Errors: std::system_error when the system cannot announce forks.
  ForkWatch(void* subject, void (*when_lost)(void* subject));
  ForkWatch(const ForkWatch&) = delete;
  ForkWatch& operator=(const ForkWatch&) = delete;
  ~ForkWatch();

  [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }
  /// Whether a watched object with this address is lost. It only compares the address.
  [[nodiscard]] static bool has_lost(const void* subject) noexcept;

 private:
  struct All;

  void note_loss() noexcept;

  static All all;

  void* subject_;
  void (*when_lost_)(void* subject);
  ForkWatch* next_ = nullptr;
  ForkWatch* previous_ = nullptr;
  bool is_lost_ = false;  ///< written by a process's only thread
};

}  // namespace HEIST_NAMESPACE::detail
