// NodeCache: the free nodes that a thread keeps for itself, so that most allocations are a few
// instructions where they are needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <heist/detail/export.hpp>
#include <heist/version.hpp>

namespace HEIST_NAMESPACE::detail {

/// The sizes in which nodes are recycled.
inline constexpr std::array<std::size_t, 9> node_class_bytes{64,  96,  128, 160, 192,
                                                             256, 384, 512, 640};
inline constexpr std::size_t largest_node_class = node_class_bytes.back();

/// The free nodes of one size. An object of zeros has no room either, so it is both empty and full.
class FreeNodes {
 public:
  static constexpr std::uint32_t most = 128;

  /// Makes room in an object of zeros.
  void open() noexcept {
    limit_ = most;
    for (std::uint32_t index = 0; index < ahead; ++index) slots_[index] = this;
  }
  [[nodiscard]] bool is_open() const noexcept { return limit_ != 0; }
  [[nodiscard]] bool is_empty() const noexcept { return count == 0; }
  [[nodiscard]] bool is_full() const noexcept { return count == limit_; }
  [[nodiscard]] void** nodes() noexcept { return slots_.data() + ahead; }
  /// Precondition: it is not empty.
  [[nodiscard]] void* pop() noexcept { return nodes()[--count]; }
  /// To be called after pop(), when another thread, most likely on another core, wrote the next
  /// nodes last as it released them.
  void prefetch() const noexcept { __builtin_prefetch(slots_[count], 1); }
  /// Precondition: it is not full.
  void push(void* node) noexcept { nodes()[count++] = node; }

  std::uint32_t count = 0;

 private:
  static constexpr std::uint32_t ahead = 4;

  std::uint32_t limit_ = 0;
  /// The first ones hold no nodes. They have an address that is mapped, because a prefetch of one
  /// that is not walks the page tables each time: some 50 ns on a virtual machine.
  std::array<void*, ahead + most> slots_{};
};

using NodeCache = std::array<FreeNodes, node_class_bytes.size()>;

/// This thread's cache. While the thread has none it is an object of zeros, which all such threads
/// share and nobody writes to. (It is one pointer, so that a shared library needs hardly any of the
/// static TLS block.)
HEIST_EXPORT [[gnu::tls_model("initial-exec")]] extern constinit thread_local NodeCache* node_cache;

}  // namespace HEIST_NAMESPACE::detail
