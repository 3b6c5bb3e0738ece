#include "heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace heist::model {

using namespace detail;

Heap::Heap() {
  void* memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = end_ = static_cast<std::byte*>(memory);
}

void* Heap::allocate(std::size_t bytes, std::size_t alignment, const void* code) {
  auto address = reinterpret_cast<std::uintptr_t>(end_);
  address = (address + alignment - 1) & ~(alignment - 1);
  auto* begin = reinterpret_cast<std::byte*>(address);
  if (begin + bytes > memory_ + capacity) throw std::bad_alloc();
  // Eight bytes stay free behind each block: neighbours share no granule.
  end_ = begin + bytes + 8;
  blocks_.push_back({begin, bytes, code, false});
  return begin;
}

bool Heap::owns(const void* address) const noexcept {
  return address >= memory_ && address < memory_ + capacity;
}

Heap::Block* Heap::block_at(const void* address) noexcept {
  const auto* begin = static_cast<const std::byte*>(address);
  const auto found = std::ranges::lower_bound(blocks_, begin, {}, &Block::begin);
  return found != blocks_.end() && found->begin == begin ? &*found : nullptr;
}

void Heap::forget_all() noexcept {
  end_ = memory_;
  blocks_.clear();
}

}  // namespace heist::model
