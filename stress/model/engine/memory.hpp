// Memory: atomic objects as C++ describes them: each has a history, and a load may read any store
// in it that nothing forbids.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <heist/detail/sync.hpp>
#include <vector>

#include "address_table.hpp"
#include "clock.hpp"
#include "path.hpp"

namespace heist::model {

using namespace detail;

/// What a thread knows while it makes a step.
struct Viewer {
  ThreadId thread;
  VectorClock& clock;  ///< what happens before this step, the step included
};

// The rules ([intro.races], [atomics.order]), with the order of steps as the single total order S
// of seq_cst operations: coherence      a load reads no store older than one that the thread has
// read or written, or that happens before it, or that another thread had read or written before it
// in that sense; seq_cst        a seq_cst load reads no store older than what an earlier seq_cst
// operation on the object read or wrote; modification order  a store comes behind all that the
// thread could not read any more, else anywhere that parts no read-modify-write from what it read;
// read-modify-writes read the newest store; release/acquire  an acquiring read of a releasing store
// joins its clock; read-modify-writes carry the clock of the store they replace along (release
// sequence). What it leaves out: read-modify-writes in the midst of a modification order, values
// out of thin air, and loads that read stores of later steps (load buffering); an order S that is
// not that of the steps: "store data seq_cst, store flag relaxed" against "load flag relaxed, load
// data seq_cst" may miss the data in C++ and on ARM, and never does here; a third stale value in a
// row (stale_limit), and a store put back behind more than two (max_places). A seq_cst operation
// does not order relaxed ones of other objects: "store relaxed, seq_cst RMW elsewhere, load" may
// read stale values, as C++ allows and x86 does not.
class Memory {
 public:
  void forget_all() noexcept { histories_.forget_all(); }

  void created(Viewer viewer, Cell cell, Word value);
  [[nodiscard]] Word load(Viewer viewer, Cell cell, std::memory_order order, Path& path);
  void store(Viewer viewer, Cell cell, Word value, std::memory_order order, Path& path);
  /// What the object was made with.
  [[nodiscard]] Word oldest(Cell cell) { return history(cell).stores.front().value; }
  /// The newest value; the thread has then read it.
  [[nodiscard]] Word newest(Cell cell);
  /// A read-modify-write that leaves `value` there.   Returns what it read.
  Word replace(Viewer viewer, Cell cell, Word value, std::memory_order order);
  /// A compare-exchange: reads the newest value, or fails on an older one that differs from
  /// `expected`.
  struct Comparison {
    bool may_succeed;
    Word value;
  };
  [[nodiscard]] Comparison compare(Viewer viewer, Cell cell, Word expected,
                                   std::memory_order failure, Path& path);

 private:
  struct Store {
    Word value;
    VectorClock released;  ///< what an acquiring read of it learns
    bool has_release;
    bool is_update;  ///< a read-modify-write: nothing comes between it and the store before
  };
  /// That a thread had read or written a store by one of its steps.
  struct Sighting {
    Epoch epoch;
    std::uint32_t store;
  };
  struct History {
    std::vector<Store> stores;  ///< in modification order
    std::array<std::vector<Sighting>, max_threads> sightings;
    std::array<int, max_threads> stale_reads{};
    std::uint32_t seq_cst_floor = 0;

    void reset() noexcept;
    [[nodiscard]] std::uint32_t last() const noexcept {
      return static_cast<std::uint32_t>(stores.size() - 1);
    }
    void insert(std::uint32_t place, const Store& store);
  };
  /// How often in a row a thread may read a stale value of one object: stores become visible "in
  /// finite time".
  static constexpr int stale_limit = 2;
  /// How far back a store may be put.
  static constexpr int max_places = 3;

  [[nodiscard]] History& history(Cell cell);
  [[nodiscard]] static std::uint32_t floor(const History& history, Viewer viewer, bool seq_cst);
  /// The store that a load reads.
  [[nodiscard]] static std::uint32_t pick(History& from, Viewer viewer, bool seq_cst, Path& path);
  static void see(History& history, Viewer viewer, std::uint32_t store, std::memory_order order);
  static Store made(Viewer viewer, Word value, std::memory_order order, const Store* replaced);
  static void append(History& history, Viewer viewer, const Store& store, std::memory_order order);

  AddressTable<History> histories_;
};

/// What the object's own memory holds.
[[nodiscard]] Word read_raw(Cell cell) noexcept;
void write_raw(Cell cell, Word value) noexcept;
/// What an update leaves.
[[nodiscard]] Word applied(Update what, Word before, Word operand, unsigned bytes) noexcept;

}  // namespace heist::model
