// Fiber: the stack of a virtual thread, with what the compiler and the C++ runtime keep for each
// thread.
#pragma once

#include <csetjmp>
#include <cstddef>
#include <vector>

namespace heist::model {

/// Runs `body` on a stack of its own, again and again: each return goes to `resume`'s caller, the
/// next resume() calls it anew.
///
/// Thread-local variables of the program and the list of caught exceptions are the fiber's own. A
/// fiber that is destroyed or restarted amid its body leaves everything on its stack as it is.
class Fiber {
 public:
  using Body = void (*)();

  /// The fiber that runs already: the program's own stack.
  Fiber();
  explicit Fiber(Body body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// From `from`, which is running.
  void resume(Fiber& from);
  /// Forgets where it was: the next resume() calls the body.
  void restart();
  /// Its thread-local variables become those of a new thread.
  void forget_thread_locals();

  /// Whether `address` is in the program's thread-local memory, which all fibers share in turn.
  [[nodiscard]] static bool is_thread_local(const void* address) noexcept;

 private:
  static void enter(unsigned high, unsigned low);
  void leave_to(Fiber& to);

  Body body_ = nullptr;
  std::byte* stack_ = nullptr;
  std::jmp_buf at_{};
  std::jmp_buf creator_{};
  std::vector<std::byte> thread_locals_;
  /// As the C++ runtime keeps it.
  struct Exceptions {
    void* caught;
    unsigned uncaught;
  };
  Exceptions exceptions_{};
};

}  // namespace heist::model
