// What malloc itself refuses: for libraries that do not use operator new.
#pragma once

#include <malloc.h>
#include <sys/resource.h>

namespace heistd {

/// While it lives, the process gets no more address space from the system. What malloc has kept it
/// may still give, so that only pieces that are larger than that are refused for sure.
class NoAddressSpace {
 public:
  NoAddressSpace() noexcept {
    malloc_trim(0);
    getrlimit(RLIMIT_AS, &before_);
    const rlimit none{0, before_.rlim_max};
    setrlimit(RLIMIT_AS, &none);
  }
  NoAddressSpace(const NoAddressSpace&) = delete;
  NoAddressSpace& operator=(const NoAddressSpace&) = delete;
  ~NoAddressSpace() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

}  // namespace heistd
