#include <heistd/memory_reserve.hpp>
#include <heistd/network_reserve.hpp>
#include <new>

namespace heistd {
namespace {

constinit thread_local NetworkReserve* reserve_here = nullptr;
constinit thread_local std::size_t withheld = 0;

constexpr auto enough_pieces = NetworkReserve::max_pieces * 3 / 4;

}  // namespace

NetworkReserve::NetworkReserve() {
  MemoryReserve::prepare();
  if (!refill()) throw std::bad_alloc();
  reserve_here = this;
}

NetworkReserve::~NetworkReserve() { reserve_here = nullptr; }

// malloc and not operator new, which would be given what is missing.
bool NetworkReserve::refill() noexcept {
  for (; pieces_ < max_pieces; ++pieces_) {
    memory_.at(pieces_).reset(std::malloc(piece_bytes));
    if (!memory_.at(pieces_)) return false;
  }
  return true;
}

bool NetworkReserve::give() noexcept {
  if (reserve_here == nullptr || withheld > 0 || reserve_here->pieces_ == 0) return false;
  reserve_here->memory_.at(--reserve_here->pieces_).reset();
  return true;
}

NetworkReserve::Withheld::Withheld() {
  // Not the last piece: what has been scattered over the heap meanwhile may keep that from coming
  // back for long.
  if (reserve_here != nullptr && reserve_here->pieces_ < enough_pieces) throw std::bad_alloc();
  ++withheld;
}

NetworkReserve::Withheld::~Withheld() { --withheld; }

}  // namespace heistd
