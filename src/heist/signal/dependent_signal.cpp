#include "dependent_signal.hpp"

#include <algorithm>
#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <memory>
#include <stdexcept>
#include <utility>

namespace HEIST_NAMESPACE::detail {

const Registration::Ops SourceLink::link_ops{&claim, &is_dead, &forget, Kind::dependent};

SourceLink::SourceLink(DependentSignal& owner, Ref<SignalCore> root) noexcept
    : Registration(link_ops), dependent(owner), source(std::move(root)) {}

bool SourceLink::claim(Registration& registration) noexcept {
  return static_cast<SourceLink&>(registration).dependent.try_retain();
}
bool SourceLink::is_dead(const Registration& registration) noexcept {
  return static_cast<const SourceLink&>(registration).dependent.has_ended();
}
void SourceLink::forget(Registration& registration) noexcept {
  static_cast<SourceLink&>(registration).dependent.drop_memory();
}

DependentSignal::DependentSignal(const Priority& priority, std::size_t room) noexcept
    : SignalCore(SignalForm::dependent, priority.kind, sizeof(DependentSignal)),
      links_at_(static_cast<std::uint8_t>(bytes_for(0, is_task_signal()))),
      memory_(static_cast<std::uint32_t>(1 + room)),
      room_(static_cast<std::uint32_t>(room)) {
  if (is_task_signal()) {
    std::construct_at(reinterpret_cast<SignalPriority*>(this + 1), priority.kind, priority.value);
  }
}

DependentSignal::~DependentSignal() {
  std::destroy(links().begin(), links().end());
  if (is_task_signal()) std::destroy_at(&changing_priority());
}

std::size_t DependentSignal::bytes_for(std::size_t room, bool has_priority) noexcept {
  static_assert(sizeof(DependentSignal) % alignof(SourceLink) == 0);
  static_assert(sizeof(DependentSignal) % alignof(SignalPriority) == 0);
  static_assert(sizeof(SignalPriority) % alignof(SourceLink) == 0);
  // A request's any(own, shutdown) has a class of nodes (ADR 0037).
  static_assert(sizeof(DependentSignal) + 2 * sizeof(SourceLink) <= 160);
  // A signal of three links (a task's own signal, a deadline and a priority) fits into the node
  // pool.
  static_assert(sizeof(DependentSignal) + 3 * sizeof(SourceLink) + sizeof(SignalPriority) <=
                largest_node_class);
  return sizeof(DependentSignal) + room * sizeof(SourceLink) +
         (has_priority ? sizeof(SignalPriority) : 0);
}

/// Where the links are, in the same node: behind the part of a TaskSignal.
SourceLink* DependentSignal::first_link() const noexcept {
  const auto* self = reinterpret_cast<const std::byte*>(this);
  return reinterpret_cast<SourceLink*>(const_cast<std::byte*>(self + links_at_));
}
std::span<SourceLink> DependentSignal::links() noexcept {
  return {std::launder(first_link()), count_};
}
std::span<const SourceLink> DependentSignal::links() const noexcept {
  return {std::launder(first_link()), count_};
}
std::span<const SourceLink> DependentSignal::abort_links() const noexcept {
  return links().first(follows_ ? count_ - 1 : count_);
}

const DependentSignal* DependentSignal::from(const SignalCore& core) noexcept {
  return core.is_dependent() ? static_cast<const DependentSignal*>(&core) : nullptr;
}

SignalCore& DependentSignal::priority_root(SignalCore& follower) noexcept {
  return *static_cast<DependentSignal&>(follower).links().back().source;
}

DependentSignal::Priority DependentSignal::following(SignalCore& source) noexcept {
  if (!source.has_dynamic_priority()) {
    return {.kind = PriorityKind::fixed, .value = source.fixed_priority()};
  }
  SignalCore& root = from(source) != nullptr ? priority_root(source) : source;
  return {.kind = PriorityKind::followed, .root = &root};
}

template <class Signal>
std::size_t DependentSignal::count_roots(std::span<const Signal> signals) {
  std::size_t count = 0;
  for (const AbortSignal& signal : signals) {
    if (!signal.valid()) throw std::invalid_argument("any: a signal in the list was moved from");
    const DependentSignal* dependent = from(Access::core(signal));
    count += dependent != nullptr ? dependent->abort_links().size() : 1;
  }
  return count;
}

template <class Signal>
Ref<SignalCore> DependentSignal::make(std::span<const Signal> signals, const Priority& priority) {
  const auto aborted = std::ranges::find_if(
      signals, [](const AbortSignal& signal) { return signal.valid() && signal.aborted(); });
  const bool is_born_aborted = aborted != signals.end();
  const std::size_t roots = count_roots(signals);
  const std::size_t room = (is_born_aborted ? 0 : roots) + (priority.root != nullptr ? 1 : 0);
  const bool has_priority = priority.kind != PriorityKind::none;
  auto* made = ::new (allocate_node(bytes_for(room, has_priority))) DependentSignal(priority, room);
  auto result = Ref<SignalCore>::adopt(made);
  if (is_born_aborted) {
    const AbortSignal& first = *aborted;
    made->abort_at_birth(first.reason());
  } else {
    made->link_all(signals);
  }
  if (priority.root != nullptr) made->follow_priority_of(*priority.root);
  made->drop_unused_memory();
  return result;
}

namespace {

Ref<SignalCore> root_of(const AbortSignal& signal) noexcept {
  return Ref<SignalCore>::share(&Access::core(signal));
}
/// Takes the reference of a temporary.
Ref<SignalCore> root_of(const ListedSignal& signal) noexcept {
  AbortSignal* temporary = signal.temporary();
  if (temporary != nullptr) return Access::into_core(std::move(*temporary));
  return root_of(static_cast<const AbortSignal&>(signal));
}

}  // namespace

/// If a signal of the list is a dependent itself, its roots are linked in its stead. So chains and
/// diamonds of signals become flat.
template <class Signal>
void DependentSignal::link_all(std::span<const Signal> signals) noexcept {
  for (const Signal& signal : signals) {
    const AbortSignal& handle = signal;
    if (!handle.valid()) continue;  // its reference is in a link, as it stands in the list twice
    const DependentSignal* dependent = from(Access::core(handle));
    if (dependent == nullptr) {
      if (!link_to(root_of(signal))) return;
      continue;
    }
    for (const SourceLink& link : dependent->abort_links()) {
      if (!link_to(link.source)) return;
    }
  }
}

template Ref<SignalCore> DependentSignal::make(std::span<const AbortSignal> signals,
                                               const Priority& priority);
template Ref<SignalCore> DependentSignal::make(std::span<const ListedSignal> signals,
                                               const Priority& priority);

/// Links this signal to a root. Returns false when the root was aborted meanwhile, and this signal
/// with it.
bool DependentSignal::link_to(Ref<SignalCore> root) noexcept {
  const auto is_root = [&root](const SourceLink& link) { return link.source == root; };
  if (std::ranges::any_of(links(), is_root)) return true;
  SourceLink& link = make_link(std::move(root));
  if (link.source->add(link)) return true;
  drop_memory();  // the registry's share
  abort_at_birth(link.source->reason());
  return false;
}

SourceLink& DependentSignal::make_link(Ref<SignalCore> root) noexcept {
  auto* link = std::construct_at(first_link() + count_, *this, std::move(root));
  ++count_;
  return *link;
}

/// Drops the shares of links that were not made, because a root stood in the list twice or was
/// aborted.
void DependentSignal::drop_unused_memory() noexcept {
  for (std::uint32_t unused = count_; unused < room_; ++unused) drop_memory();
}

void DependentSignal::follow_priority_of(SignalCore& root) noexcept {
  SourceLink& link = make_link(Ref<SignalCore>::share(&root));
  follows_ = true;
  root.changing_priority().add(link);
  changing_priority().start_following(root.changing_priority().delivered());
}

bool DependentSignal::try_keep_for_aborter(SignalCore& signal) noexcept {
  auto& self = static_cast<DependentSignal&>(signal);
  const auto is_aborted = [](const SourceLink& link) {
    return link.source->try_leave_to_aborter();
  };
  if (!std::ranges::any_of(self.abort_links(), is_aborted)) return false;
  self.keep();
  return true;
}

void DependentSignal::keep() noexcept {
  retain(*this);
  Kept seen = Kept::no;
  if (!kept_.compare_exchange_strong(seen, Kept::yes, sync::edge("kept:keep", sync::release),
                                     sync::relaxed)) {  // relaxed: only gives back what it added.
    release(*this);
  }
}

void DependentSignal::release_kept() noexcept {
  if (kept_.exchange(Kept::marked, sync::edge("kept:mark", sync::acquire)) == Kept::yes) {
    release(*this);
  }
}

void DependentSignal::end_dependent() noexcept {
  auto roots = links();
  if (follows_) {
    roots.back().source->changing_priority().note_dead();
    roots.back().source.reset();
    roots = roots.first(roots.size() - 1);
  }
  for (SourceLink& link : roots) leave(*link.source.detach());
  drop_contents();
  drop_memory();
}

void DependentSignal::drop_memory() noexcept {
  if (!memory_.drop_or_be_last()) return;
  const std::size_t bytes = bytes_for(room_, is_task_signal());
  this->~DependentSignal();
  release_node(this, bytes);
}

}  // namespace HEIST_NAMESPACE::detail
