// BlockDisposal: large results and uploads are freed on agents, in portions.
#pragma once

#include <heist/scheduler.hpp>
#include <heistd/blocks.hpp>
#include <utility>

namespace heistd {

/// Frees blocks in tasks of some MiB each, since freeing a large result takes milliseconds, which neither the network
/// thread nor another job's chunk may wait for. What is small, and what no task can be posted for, is freed at once.
///
/// Thread: any.
class BlockDisposal {
 public:
  /// The tasks have the highest priority that `scheduler` allows.
  explicit BlockDisposal(heist::Scheduler scheduler) noexcept : scheduler_(std::move(scheduler)) {}

  void free(Blocks blocks) const noexcept;

  /// The same blocks, to be freed this way when their last share goes. Precondition: nobody else has a share, and they
  /// were not made as constants.   Errors: std::bad_alloc; the blocks are gone then.
  [[nodiscard]] SharedBlocks share(SharedBlocks blocks) const;

 private:
  struct Deleter;
  struct Step;

  heist::Scheduler scheduler_;
};

/// Blocks that are freed this way.
class DisposedBlocks {
 public:
  explicit DisposedBlocks(BlockDisposal disposal) noexcept : disposal_(std::move(disposal)) {}
  DisposedBlocks(DisposedBlocks&& other) noexcept
      : disposal_(std::move(other.disposal_)), blocks_(std::exchange(other.blocks_, {})) {}
  DisposedBlocks& operator=(DisposedBlocks&& other) noexcept {
    std::swap(disposal_, other.disposal_);
    std::swap(blocks_, other.blocks_);
    return *this;
  }
  ~DisposedBlocks() { disposal_.free(std::move(blocks_)); }

  [[nodiscard]] Blocks& operator*() noexcept { return blocks_; }
  [[nodiscard]] Blocks* operator->() noexcept { return &blocks_; }

 private:
  BlockDisposal disposal_;
  Blocks blocks_;
};

}  // namespace heistd
