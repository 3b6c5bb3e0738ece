// MemoryReserve: for libraries that do not survive std::bad_alloc.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace heistd {

/// Runs calls of RE2 and of nlohmann's JSON, which end the process when std::bad_alloc comes in
/// some of their functions. Each thread keeps a reserve for that; when operator new finds no memory
/// within such a call, it gets the reserve, and the call ends in std::bad_alloc after it has
/// returned.
///
/// Thread: any.   Memory: `bytes` of address space for each thread that used it, untouched until
/// they are needed. What the library needs beyond that is out of reach: keep its calls small.
class MemoryReserve {
 public:
  static constexpr std::size_t bytes = std::size_t{1} << 20U;

  /// Makes the thread's reserve, and has operator new ask for reserves. A thread that starts with
  /// this does not depend on memory when it first needs its own.   Errors: std::bad_alloc.
  static void prepare();

  /// Whether a call is under way on this thread that has used the reserve.
  static bool is_in_use() noexcept;

  /// What `call` returns.   Errors: std::bad_alloc, and what the call throws.
  template <class Call>
  static auto guard(Call&& call) {
    const Scope scope;
    auto result = std::forward<Call>(call)();
    if (used()) throw std::bad_alloc();
    return result;
  }

 private:
  struct Scope {
    Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();
  };
  /// By the call under way.
  static bool used() noexcept;
};

}  // namespace heistd
