#include <algorithm>
#include <heistd/block_disposal.hpp>
#include <heistd/limits.hpp>
#include <new>

namespace heistd {
namespace {

/// Freeing this many blocks of 64 KiB takes about a millisecond.
constexpr std::size_t blocks_at_a_time = 96;
/// What is freed at once: a task would cost as much.
constexpr std::size_t few_blocks = 4;
constexpr std::size_t few_bytes = few_blocks * block_bytes;

bool are_few(const Blocks& blocks) noexcept {
  return blocks.size() <= few_blocks && byte_count(blocks) <= few_bytes;
}

}  // namespace

struct BlockDisposal::Step {
  BlockDisposal disposal;
  std::optional<Budget::Ticket> ticket;  // before the blocks, as it goes after them
  Blocks blocks;

  void operator()() {
    blocks.resize(blocks.size() - std::min(blocks.size(), blocks_at_a_time));
    disposal.free(std::move(blocks), std::move(ticket));
  }
};

struct BlockDisposal::Deleter {
  BlockDisposal disposal;
  std::shared_ptr<Blocks> blocks;

  void operator()(const Blocks* /*the same*/) const noexcept { disposal.free(std::move(*blocks)); }
};

SharedBlocks BlockDisposal::share(SharedBlocks blocks) const {
  if (!blocks || are_few(*blocks)) return blocks;
  auto own = std::const_pointer_cast<Blocks>(std::move(blocks));
  const Blocks* const same = own.get();
  return {same, Deleter{*this, std::move(own)}};
}

void BlockDisposal::free(Blocks blocks, std::optional<Budget::Ticket> ticket) const noexcept {
  if (are_few(blocks)) return blocks.clear();
  try {
    // Where it is refused the blocks go with the task that could not be posted.
    static_cast<void>(
        scheduler_.post(Step{*this, std::move(ticket), std::move(blocks)},
                        {.priority = heist::TaskPriority::user_blocking, .label = "free blocks"}));
  } catch (const std::bad_alloc&) {  // the same
  }
}

}  // namespace heistd
