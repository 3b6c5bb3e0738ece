// Cell: the life of one posted callback. It is plain data, so only the runtime orders what
// different threads do with it.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace heist::stress {

/// Counts of one callback. Whoever runs or destroys the callback writes them, and they are read at
/// quiet points.
struct Cell {
  std::uint32_t runs = 0;
  std::uint32_t destroyed = 0;
};

/// Counts the destruction of the callback that captures it: once, however often that is moved.
class Witness {
 public:
  explicit Witness(Cell& cell) noexcept : cell_(&cell) {}
  Witness(Witness&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  Witness& operator=(Witness&&) = delete;
  ~Witness() {
    if (cell_ != nullptr) ++cell_->destroyed;
  }
  [[nodiscard]] Cell& cell() const noexcept { return *cell_; }

 private:
  Cell* cell_;
};

/// Makes a callback of `body()` that keeps its cell.
template <class Body>
auto witnessed(Cell& cell, Body body) {
  return [witness = Witness(cell), body = std::move(body)]() mutable -> decltype(auto) {
    ++witness.cell().runs;
    return body();
  };
}
inline auto witnessed(Cell& cell) {
  return witnessed(cell, [] {});
}

}  // namespace heist::stress
