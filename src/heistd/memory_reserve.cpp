#include <cstdlib>
#include <heistd/memory_reserve.hpp>
#include <heistd/memory_shortage.hpp>
#include <heistd/network_reserve.hpp>
#include <memory>

namespace heistd {
namespace {

struct Free {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

// malloc and not operator new: this is what is behind it, and the handler is called from within it.
thread_local std::unique_ptr<void, Free> reserve;
thread_local bool guarded = false;

/// Operator new calls this when there is no memory, and tries again when it returns.
void on_no_memory() {
  MemoryShortage::note();
  if (NetworkReserve::give()) return;
  if (!guarded || !reserve) throw std::bad_alloc();
  reserve.reset();
}

}  // namespace

void MemoryReserve::prepare() {
  if (!reserve) reserve.reset(std::malloc(bytes));
  if (!reserve) throw std::bad_alloc();
  std::set_new_handler(&on_no_memory);  // the same one each time; heistd has no other
}

MemoryReserve::Scope::Scope() {
  prepare();
  guarded = true;
}

MemoryReserve::Scope::~Scope() { guarded = false; }

bool MemoryReserve::is_in_use() noexcept { return guarded && reserve == nullptr; }

bool MemoryReserve::used() noexcept { return reserve == nullptr; }

}  // namespace heistd
