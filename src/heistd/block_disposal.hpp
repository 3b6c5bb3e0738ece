// BlockDisposal: large results and uploads are freed on agents, in portions.
#pragma once

#include <heist/scheduler.hpp>
#include <heistd/blocks.hpp>
#include <heistd/budget.hpp>
#include <optional>
#include <utility>

namespace heistd {

/// Frees blocks in tasks of some MiB each, since freeing a large result takes milliseconds, which
/// neither the network thread nor another job's chunk may wait for. What is small, and what no task
/// can be posted for, is freed at once.
///
/// Thread: any.
class BlockDisposal {
 public:
  /// The tasks have the highest priority that `scheduler` allows.
  explicit BlockDisposal(heist::Scheduler scheduler) noexcept : scheduler_(std::move(scheduler)) {}

  /// `ticket` is what the client's budget counts for them: given back when the last of them is
  /// free.
  void free(Blocks blocks, std::optional<Budget::Ticket> ticket = std::nullopt) const noexcept;

  /// The same blocks, to be freed this way when their last share goes. Precondition: nobody else
  /// has a share, and they were not made as constants.   Errors: std::bad_alloc; the blocks are
  /// gone then.
  [[nodiscard]] SharedBlocks share(SharedBlocks blocks) const;

 private:
  struct Deleter;
  struct Step;

  heist::Scheduler scheduler_;
};

/// Blocks that are freed this way, and what the client's budget counts for them.
class DisposedBlocks {
 public:
  DisposedBlocks(BlockDisposal disposal, Budget::Ticket its_ticket) noexcept
      : ticket(std::move(its_ticket)), disposal_(std::move(disposal)) {}
  DisposedBlocks(DisposedBlocks&& other) noexcept
      : ticket(std::move(other.ticket)),
        disposal_(std::move(other.disposal_)),
        blocks_(std::exchange(other.blocks_, {})) {}
  DisposedBlocks& operator=(DisposedBlocks&& other) noexcept {
    std::swap(ticket, other.ticket);
    std::swap(disposal_, other.disposal_);
    std::swap(blocks_, other.blocks_);
    return *this;
  }
  ~DisposedBlocks() { disposal_.free(std::move(blocks_), std::move(ticket)); }

  [[nodiscard]] Blocks& operator*() noexcept { return blocks_; }
  [[nodiscard]] Blocks* operator->() noexcept { return &blocks_; }

  Budget::Ticket ticket;

 private:
  BlockDisposal disposal_;
  Blocks blocks_;
};

}  // namespace heistd
