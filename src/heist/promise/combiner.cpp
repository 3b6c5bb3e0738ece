#include <algorithm>
#include <heist/detail/access.hpp>
#include <heist/detail/combiner.hpp>
#include <heist/error.hpp>
#include <heist/scheduler.hpp>
#include <vector>

#include "../loop/loop_core.hpp"

namespace HEIST_NAMESPACE::detail {

constexpr LoopNodeOps CombinedInput::table{LoopNodeKind::microtask, &CombinedInput::run,
                                           &CombinedInput::drop};

void CombinedInput::run(LoopNode& node, LoopCore& /*loop*/) noexcept {
  auto& self = static_cast<CombinedInput&>(static_cast<Reaction&>(node));
  self.combiner->react(self);
}

void CombinedInput::drop(LoopNode& node) noexcept {
  auto& self = static_cast<CombinedInput&>(static_cast<Reaction&>(node));
  self.combiner->drop(self);
}

void Combiner::require_loop(const Scheduler* scheduler) {
  if (scheduler != nullptr)
    Access::check_valid(*scheduler, "when_all, when_any or race: the scheduler");
  if (scheduler == nullptr && current_loop() == nullptr) {
    throw NotAllowedError("no event loop runs on this thread: name a scheduler");
  }
}

void Combiner::set_inputs(std::span<CombinedInput> inputs) noexcept {
  inputs_ = inputs;
  open_.add(static_cast<std::uint32_t>(inputs.size()));
  for (auto& input : inputs) input.combiner = this;
}

void Combiner::start(const Scheduler* scheduler) noexcept {
  if (inputs_.empty()) return settle_unanimous(), drop_memory();
  for (auto& input : inputs_) {
    scheduler != nullptr ? input.bind_to(*scheduler) : input.bind_to_current_loop();
  }
  promise_->set_home(inputs_.front().home.get());
  for (auto& input : inputs_) input.source->attach(input);
}

void Combiner::react(CombinedInput& input) noexcept {
  if (input.source->status() != ops_->unanimous && decide()) settle_as(input);
  end(input);
}

void Combiner::drop(CombinedInput& input) noexcept {
  if (decide()) reject(loop_closed_reason(), true);
  end(input);
}

/// Ends an input that has had its say. This object may be gone afterwards.
void Combiner::end(CombinedInput& input) noexcept {
  if (is_decided()) input.source.reset();
  if (!open_.drop()) return;
  if (!is_decided()) settle_unanimous();
  for (auto& each : inputs_) each.source.reset();
  drop_memory();
}

/// Makes the calling input the one that decides. Returns false when another input has done so.
bool Combiner::decide() noexcept {
  return !decided_.exchange(true, sync::relaxed);  // relaxed: only a claim, it carries nothing.
}

bool Combiner::is_decided() const noexcept {
  // relaxed: the last input to end comes after all others (open_). To the others it is only a hint
  // that nobody will ask their own source any more.
  return decided_.load(sync::relaxed);
}

void Combiner::settle_as(CombinedInput& input) noexcept {
  if (input.source->status() == PromiseStatus::rejected) {
    reject(input.source->reason(), input.source->is_abort());
  } else {
    fulfil(static_cast<std::size_t>(&input - inputs_.data()));
  }
}

void Combiner::settle_unanimous() noexcept {
  if (ops_->unanimous == PromiseStatus::fulfilled) return fulfil(0);
  reject_with_all();
}

void Combiner::fulfil(std::size_t decider) noexcept {
  Reason error;
  try {
    ops_->make_value(*this, decider);
  } catch (...) {
    error = Reason::of_current_exception();
    if (!error) error = no_reason_given();
  }
  if (error) return reject(error, false);
  promise_->settle_fulfilled();
  release(*promise_);
}

void Combiner::reject(const Reason& reason, bool by_abort) noexcept {
  ops_->discard_value(*this);
  promise_->settle_rejected(reason, by_abort);
  release(*promise_);
}

namespace {

/// Whether the input's rejection would be reported if nobody looked at it (PRO-3).
bool is_reported(const CombinedInput& input) noexcept {
  return !input.source->is_abort() && input.source->reason().is_error();
}

Reason aggregate(std::span<const CombinedInput> inputs) noexcept {
  try {
    std::vector<Reason> reasons;
    reasons.reserve(inputs.size());
    for (const auto& input : inputs) reasons.push_back(input.source->reason());
    return Reason(AggregateError(std::move(reasons)));
  } catch (...) {
    return Reason::out_of_memory();
  }
}

}  // namespace

/// The rejection may be reported as unobserved only if one of the reasons might have been. Aborts
/// are not reported.
void Combiner::reject_with_all() noexcept {
  const bool by_abort = !inputs_.empty() && std::ranges::none_of(inputs_, is_reported);
  reject(aggregate(inputs_), by_abort);
}

}  // namespace HEIST_NAMESPACE::detail
