// What malloc itself refuses: for libraries that do not use operator new.
#pragma once

#include <malloc.h>
#include <sys/resource.h>

#include <cstddef>
#include <cstdlib>
#include <utility>

namespace heistd {

/// While it lives, the process gets no more address space from the system, and what malloc has kept
/// of earlier tests is taken, so that it refuses all pieces of `taken_bytes` and more.
class NoAddressSpace {
 public:
  NoAddressSpace() noexcept {
    malloc_trim(0);
    getrlimit(RLIMIT_AS, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    while (auto* taken = static_cast<Taken*>(std::malloc(taken_bytes))) {
      taken->next = taken_;
      taken_ = taken;
    }
  }
  NoAddressSpace(const NoAddressSpace&) = delete;
  NoAddressSpace& operator=(const NoAddressSpace&) = delete;
  ~NoAddressSpace() {
    setrlimit(RLIMIT_AS, &before_);
    while (taken_ != nullptr) std::free(std::exchange(taken_, taken_->next));
  }

 private:
  static constexpr std::size_t taken_bytes = 64 * 1024;
  struct Taken {
    Taken* next;
  };

  Taken* taken_ = nullptr;
  rlimit before_{};
};

}  // namespace heistd
