// raw_flag: the floor of poll. A word that a poster would set, read where it stands.
#pragma once

#include <atomic>

namespace bench {

class RawFlag {
 public:
  static constexpr const char* name = "raw_flag";
  template <class F>
  void post(F&& f) {
    f();
  }
  [[nodiscard]] bool poll() const noexcept { return urgent_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> urgent_{false};
};

}  // namespace bench
