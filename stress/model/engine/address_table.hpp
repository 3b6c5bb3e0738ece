// AddressTable: what the engine knows of each address, forgotten between executions at no cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heist::model {

using namespace detail;

/// A hash table from addresses to a T each. `T::reset()` makes a recycled T a new one.
template <class T>
class AddressTable {
 public:
  AddressTable() : slots_(initial_slots) {}

  /// The entry of `key`, and whether it is new.
  struct Found {
    T& entry;
    bool is_new;
  };
  Found operator[](std::uintptr_t key) {
    if (used_ * 2 > slots_.size()) grow();
    Slot& slot = find(key);
    if (slot.round == round_) return {slot.entry, false};
    slot.round = round_;
    slot.key = key;
    slot.entry.reset();
    ++used_;
    return {slot.entry, true};
  }

  void forget_all() noexcept {
    ++round_;
    used_ = 0;
  }

 private:
  struct Slot {
    std::uintptr_t key = 0;
    std::uint64_t round = 0;
    T entry;
  };
  static constexpr std::size_t initial_slots = 1 << 12;

  Slot& find(std::uintptr_t key) noexcept {
    std::size_t at = static_cast<std::size_t>(key * 0x9e37'79b9'7f4a'7c15U >> 20U);
    for (;; ++at) {
      Slot& slot = slots_[at & (slots_.size() - 1)];
      if (slot.round != round_ || slot.key == key) return slot;
    }
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.round == round_) find(slot.key) = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::uint64_t round_ = 1;
};

}  // namespace heist::model
