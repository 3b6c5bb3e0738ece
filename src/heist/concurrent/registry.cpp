#include "registry.hpp"

#include <utility>

namespace HEIST_NAMESPACE::detail {

namespace {

constexpr Registration::Ops mark_ops{};  // nobody calls a mark
constinit Registration closed_mark(mark_ops);

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

}  // namespace

Registry::~Registry() {
  Registration* node = head_.load(sync::relaxed);  // relaxed: no other user is left (RefCount).
  if (node != &closed_mark) forget_list(node);
}

bool Registry::add(Registration& registration) noexcept {
  Registration* head = head_.load(sync::edge("registry:refuse", sync::acquire));
  do {
    if (head == &closed_mark) return false;
    registration.older.store(head, sync::relaxed);  // relaxed: published by the CAS.
  } while (!head_.compare_exchange_weak(head, &registration,
                                        sync::edge("registry:add", sync::seq_cst),
                                        sync::edge("registry:refuse", sync::acquire)));
  return true;
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

void Registry::leave_walk() noexcept {
  std::uint32_t inside = gate_.load(sync::edge("registry:enter", sync::acquire));
  while ((inside & pruning) != 0) {
    const std::uint32_t left = closed_list_ != nullptr ? closed_list_left : 0;
    if (gate_.compare_exchange_weak(inside, (inside & ~walking) | left,
                                    sync::edge("registry:leave", sync::acq_rel),
                                    sync::edge("registry:enter", sync::acquire))) {
      return;
    }
  }
  // The walker is alone here, and no pruner can enter before the walker takes its bit out.
  forget_chain(std::exchange(unlinked_, nullptr));
  forget_list(std::exchange(closed_list_, nullptr));
  gate_.fetch_and(~walking, sync::edge("registry:leave", sync::acq_rel));
}

void Registry::note_dead() noexcept {
  if (head_.load(sync::relaxed) == &closed_mark) return;  // relaxed: a closed list is not pruned.
  // relaxed: both only decide when to prune, never what.
  const std::uint32_t dead = dead_.fetch_add(1, sync::relaxed) + 1;
  if (dead >= prune_at_.load(sync::relaxed) && dead % pace == 0) prune_some();
}

void Registry::prune_some() noexcept {
  std::uint32_t open = 0;
  if (!gate_.compare_exchange_strong(open, pruning, sync::edge("registry:enter", sync::acquire),
                                     sync::relaxed)) {  // relaxed: someone else is inside.
    return;
  }
  unlink_some();
  leave_prune();
}

/// Frees the nodes outside of the gate, so that a pruner that is stopped there keeps nobody from
/// pruning.
void Registry::leave_prune() noexcept {
  Registration* unlinked = nullptr;
  Registration* closed_list = nullptr;
  for (;;) {
    // This is a read-modify-write, so that a walker that enters later sees what this pruner has
    // unlinked.
    std::uint32_t inside = gate_.fetch_or(pruning, sync::edge("registry:leave", sync::acq_rel));
    if ((inside & walking) == 0) {
      if (unlinked_ != nullptr) unlinked = std::exchange(unlinked_, nullptr);
      if ((inside & closed_list_left) != 0) closed_list = std::exchange(closed_list_, nullptr);
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

void Registry::unlink_some() noexcept {
  Registration* newest = head_.load(sync::edge("registry:prune", sync::acquire));
  if (newest == nullptr || newest == &closed_mark) return;
  Registration* kept = kept_ != nullptr ? kept_ : begin_pass(*newest);
  // relaxed: written before the add that was acquired by the pruner that began the pass,
  Registration* node = kept->older.load(sync::relaxed);  // or by an earlier pruner (gate_).
  std::uint32_t gone = 0;
  for (std::uint32_t looks = portion; node != nullptr && looks > 0; --looks) {
    Registration* older = node->older.load(sync::relaxed);  // relaxed: as above.
    if (node->ops->is_dead(*node)) {
      kept->older.store(older, sync::edge("registry:unlink", sync::release));
      node->chain = std::exchange(unlinked_, node);
      ++gone;
    } else {
      kept = node;
      ++live_;
    }
    node = older;
  }
  dead_.fetch_sub(gone, sync::relaxed);  // relaxed: only decides when to prune.
  node != nullptr ? static_cast<void>(kept_ = kept) : end_pass();
}

/// The head itself stays in the list, because posters may be pushing onto it.
Registration* Registry::begin_pass(Registration& newest) noexcept {
  live_ = 0;
  // relaxed: it only decides when to prune: until the pass ends, whenever `pace` more have died.
  prune_at_.store(0, sync::relaxed);
  return &newest;
}

void Registry::end_pass() noexcept {
  kept_ = nullptr;
  prune_at_.store(live_ / 2 + prune_margin, sync::relaxed);  // relaxed: as in begin_pass().
}

}  // namespace HEIST_NAMESPACE::detail
