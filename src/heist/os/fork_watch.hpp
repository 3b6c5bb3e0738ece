// ForkWatch: tells a child of fork() which of the objects it inherited have their threads in its
// parent only.
#pragma once

#include <heist/version.hpp>
namespace HEIST_NAMESPACE::detail {

/// Watches over an object with threads of its own. In a child that this process forks meanwhile
/// nobody runs the copy of that object: it is lost there.
///
/// Thread: any. A mutex orders watches and forks; posts and waits meet it in a child that has lost
///         something, never elsewhere.
class ForkWatch {
 public:
  /// In each such child, before fork() returns there, `when_lost(subject)` is called, on the only
  /// thread there is.
  ///
  /// Errors: std::system_error when the system cannot tell of forks.
  ForkWatch(void* subject, void (*when_lost)(void* subject));
  ForkWatch(const ForkWatch&) = delete;
  ForkWatch& operator=(const ForkWatch&) = delete;
  ~ForkWatch();

  [[nodiscard]] bool is_lost() const noexcept { return is_lost_; }
  /// Whether a watched object with this address is lost. Only compares.
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
