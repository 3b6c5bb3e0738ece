#include "word_wait.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "timespec.hpp"

namespace HEIST_NAMESPACE::detail {

void wait_on_word(sync::atomic<std::uint32_t>& word, std::uint32_t expected,
                  std::optional<std::chrono::steady_clock::time_point> deadline) noexcept {
  timespec limit{};
  if (deadline) limit = to_timespec(*deadline);
  // Any return is fine: the caller looks at the word again.
  syscall(SYS_futex, &word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
          deadline ? &limit : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
}

void wake_word(sync::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, nullptr, nullptr, 0);
}

void wake_all_on_word(sync::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace HEIST_NAMESPACE::detail
