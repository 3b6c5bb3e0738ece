// Dependencies: which earlier steps the order of a step matters to, for the reduction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "address_table.hpp"
#include "clock.hpp"
#include "path.hpp"

namespace heist::model {

using namespace detail;

/// Two steps of different threads depend on each other if they are on one object and one of them
/// writes. Where the later one could have come first, the path is told to try that: at the earlier
/// step, and where the earlier one's thread was switched to (under a bound the first may not be
/// affordable).
class Dependencies {
 public:
  void forget_all() noexcept;
  void spawned(ThreadId parent, ThreadId child) noexcept;
  void joined(ThreadId thread, ThreadId finished) noexcept;
  /// Another thread goes on, by this choice of the path.
  void switched(std::size_t choice) noexcept { run_choice_ = choice; }
  /// The step that `thread` makes now, chosen at `choice` of the path.
  void step(ThreadId thread, const void* object, bool writes, std::size_t choice, Path& path);

 private:
  static constexpr std::int32_t none = -1;
  struct Step {
    Epoch count;  ///< of its thread
    std::size_t choice;
    std::size_t run_choice;  ///< where its thread was switched to
  };
  struct Object {
    std::array<std::int32_t, max_threads> last_read;
    std::array<std::int32_t, max_threads> last_write;
    VectorClock writes;
    VectorClock reads;

    void reset() noexcept {
      last_read.fill(none);
      last_write.fill(none);
      writes = reads = {};
    }
  };
  void compare(std::int32_t earlier, ThreadId earlier_thread, ThreadId thread, Path& path);

  std::vector<Step> steps_;
  AddressTable<Object> objects_;
  std::array<VectorClock, max_threads> clocks_;
  std::size_t run_choice_ = Path::none;
};

}  // namespace heist::model
