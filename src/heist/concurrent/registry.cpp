#include "registry.hpp"

#include <heist/detail/node_memory.hpp>
#include <new>
#include <utility>

namespace HEIST_NAMESPACE::detail {

namespace {

/// Drops the registry's share of each node of a list that nobody else looks at any more.
void forget_list(Registration* node) noexcept {
  while (node != nullptr) {
    Registration* older = node->older.load(sync::relaxed);  // relaxed: the caller is alone with it.
    node->ops->forget(*node);
    node = older;
  }
}

/// Does the same for a chain of unlinked nodes.
void forget_chain(Registration* node) noexcept {
  while (node != nullptr) {
    Registration* next = node->chain;
    node->ops->forget(*node);
    node = next;
  }
}

constexpr Registration::Ops mark_ops{};  // nobody calls a mark

}  // namespace

constinit Registration Registry::closed_mark(mark_ops);

Registry::~Registry() {
  Registration* node = head_.load(sync::relaxed);  // relaxed: no other user is left (RefCount).
  if (node != &closed_mark) forget_list(node);
  if (Passes* passes = passes_.load(sync::relaxed)) destroy_node(*passes);  // relaxed: as above.
}

void Registry::count_add() noexcept {
  const std::uint8_t left = until_passes_.load(sync::relaxed);  // relaxed: as in add().
  if (left > 1 || (left == 1 && make_passes())) until_passes_.store(left - 1, sync::relaxed);
}

/// Returns false when there is no memory. Then a later add tries again, and until then nothing is
/// pruned.
bool Registry::make_passes() noexcept {
  if (find_passes() != nullptr) return true;
  try {
    auto* made = make_node<Passes>();
    Passes* none = nullptr;
    // relaxed: this add needs nothing of what another one has made.
    if (!passes_.compare_exchange_strong(none, made, sync::edge("registry:make", sync::release),
                                         sync::relaxed)) {
      destroy_node(*made);
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Registration* Registry::newest() const noexcept {
  return head_.load(sync::edge("registry:walk", sync::seq_cst));
}

Registration* Registry::close_list() noexcept {
  Registration* head = head_.exchange(&closed_mark, sync::edge("registry:close", sync::acq_rel));
  return head == &closed_mark ? nullptr : head;
}

void Registry::enter_walk() noexcept {
  gate_.fetch_or(walking, sync::edge("registry:enter", sync::acquire));
}

Registry::Passes* Registry::find_passes() const noexcept {
  return passes_.load(sync::edge("registry:find", sync::acquire));
}

/// A pruner inside may stand on these nodes, or come to them.
void Registry::restore_shares(Registration* closed_list) noexcept {
  // relaxed: whichever of two pointers it reads, the close has acquired the node (registry:close).
  for (Registration* node = closed_list; node != nullptr; node = node->older.load(sync::relaxed)) {
    if (node->ops->restore_share != nullptr) node->ops->restore_share(*node);
  }
}

void Registry::leave_walk(Registration* closed_list) noexcept {
  std::uint16_t inside = gate_.load(sync::edge("registry:meet", sync::acquire));
  if ((inside & pruning) != 0) restore_shares(closed_list);
  while ((inside & pruning) != 0) {
    // (I5.) It is not read if the pruner leaves first.
    if (closed_list != nullptr) find_passes()->closed_list = closed_list;
    const std::uint16_t left = closed_list != nullptr ? closed_list_left : 0;
    if (gate_.compare_exchange_weak(inside, (inside - walking) | left,
                                    sync::edge("registry:leave", sync::acq_rel),
                                    sync::edge("registry:meet", sync::acquire))) {
      return;
    }
  }
  // The walker is alone here, and no pruner can enter before the walker takes its bit out.
  if (Passes* passes = find_passes()) forget_chain(std::exchange(passes->unlinked, nullptr));
  forget_list(closed_list);
  gate_.fetch_sub(walking, sync::edge("registry:leave", sync::acq_rel));
}

void Registry::prune_some() noexcept {
  Passes* const passes = find_passes();
  if (passes == nullptr) return;
  std::uint16_t open = 0;
  if (!gate_.compare_exchange_strong(open, pruning, sync::edge("registry:begin", sync::acq_rel),
                                     sync::relaxed)) {  // relaxed: someone else is inside.
    return;
  }
  // If another death has ended the pass meanwhile, no new one is due.
  if (passes->kept != nullptr || shares_and_deaths_.until_due() <= 0) unlink_some(*passes);
  leave_prune(*passes);
}

/// Frees the nodes outside of the gate, so that a pruner that is stopped there keeps nobody from
/// pruning.
void Registry::leave_prune(Passes& passes) noexcept {
  Registration* unlinked = nullptr;
  Registration* closed_list = nullptr;
  for (;;) {
    // This is a read-modify-write, so that a walker that enters later sees what this pruner has
    // unlinked.
    std::uint16_t inside = gate_.fetch_or(pruning, sync::edge("registry:leave", sync::acq_rel));
    if ((inside & walking) == 0) {
      if (passes.unlinked != nullptr) unlinked = std::exchange(passes.unlinked, nullptr);
      if ((inside & closed_list_left) != 0)
        closed_list = std::exchange(passes.closed_list, nullptr);
    }
    // This fails when a walker came or went meanwhile. Then the loop runs once more.
    if (gate_.compare_exchange_strong(inside, inside & walking,
                                      sync::edge("registry:leave", sync::acq_rel),
                                      sync::relaxed)) {  // relaxed: only retries.
      break;
    }
  }
  forget_chain(unlinked);
  forget_list(closed_list);
}

/// A pass begins at the newest node, which itself stays in the list, because posters may be pushing
/// onto it.
void Registry::unlink_some(Passes& passes) noexcept {
  Registration* newest = head_.load(sync::edge("registry:prune", sync::acquire));
  if (newest == nullptr || newest == &closed_mark) return;
  Registration* kept = passes.kept != nullptr ? passes.kept : newest;
  // relaxed: written before the add that was acquired by the pruner that began the pass,
  Registration* node = kept->older.load(sync::relaxed);  // or by an earlier pruner (gate_).
  for (std::uint32_t looks = portion; node != nullptr && looks > 0; --looks) {
    Registration* older = node->older.load(sync::relaxed);  // relaxed: as above.
    if (node->ops->is_dead(*node)) {
      kept->older.store(older, sync::edge("registry:unlink", sync::release));
      node->chain = std::exchange(passes.unlinked, node);
      --passes.allowed;
    } else {
      kept = node;
      ++passes.live;
    }
    node = older;
  }
  passes.kept = kept;
  if (node == nullptr) end_pass(passes);
}

/// Until the next pass, half as many as this pass met alive may die, and the margin more. What has
/// died already and was not unlinked counts.
void Registry::end_pass(Passes& passes) noexcept {
  const std::int32_t next = passes.live / 2 + prune_margin;
  shares_and_deaths_.allow_deaths(next - passes.allowed);
  passes.allowed = next;
  passes.live = 0;
  passes.kept = nullptr;
}

}  // namespace HEIST_NAMESPACE::detail
