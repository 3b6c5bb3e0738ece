// Combiner: one promise that settles by several others. when_all, when_any and race are made of it.
#pragma once

#include <array>
#include <cstddef>
#include <heist/detail/access.hpp>
#include <heist/detail/copyable.hpp>
#include <heist/detail/export.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/promise_state.hpp>
#include <heist/detail/ref.hpp>
#include <heist/detail/sync.hpp>
#include <heist/version.hpp>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace HEIST_NAMESPACE::detail {

class Combiner;

/// A combiner's reaction to one of its inputs.
struct HEIST_EXPORT CombinedInput final : Reaction {
  CombinedInput() noexcept : Reaction(table) {}

  Combiner* combiner = nullptr;
  Ref<PromiseStateBase> source;

 private:
  static void run(LoopNode& node, LoopCore& loop) noexcept;
  static void drop(LoopNode& node) noexcept;
  static const LoopNodeOps table;
};

/// Settles a promise as soon as one input decides it, or when the last input has ended and none has
/// decided.
///
/// Roles   agent: runs the reactions to the inputs. settlers: threads that settle an input; they
///         drop its reaction once the agent's loop is closed.
/// States  undecided -> decided, by decide() or, if no input decides, by the last input to end.
/// I1      The input that decides settles the promise; nobody else touches its value.
/// I2      Each source belongs to its input until the last input ends; that one then owns all
///         sources. While nothing is decided the sources stay, because the promise may settle with
///         their outcomes.
/// Edge ref (RefCount `open_`): what each input read happens before the last input to end settles
///   with all sources or releases them.
/// Reclamation  memory_ counts two shares: the promise's handles have one, the inputs the other.
/// Progress  lock-free: nobody waits for another input.
/// Proof   stress/model/models/combinators.cpp
class HEIST_EXPORT Combiner {
 public:
  Combiner(const Combiner&) = delete;
  Combiner& operator=(const Combiner&) = delete;

  /// Throws NotAllowedError when no scheduler is named and no loop runs on this thread.
  static void require_loop(const Scheduler* scheduler);
  /// Registers with the inputs, on the scheduler's loop or on the current one. Settles at once if
  /// there are no inputs.
  void start(const Scheduler* scheduler) noexcept;

 protected:
  struct Ops {
    /// The outcome that does not decide while another input may still end differently; `pending`
    /// means that either outcome decides.
    PromiseStatus unanimous;
    /// Makes the promise's value from the input that decided, or from all inputs. May throw.
    void (*make_value)(Combiner&, std::size_t decider);
    void (*discard_value)(Combiner&) noexcept;
    void (*destroy)(Combiner&) noexcept;
  };
  Combiner(const Ops& ops, PromiseStateBase& promise) noexcept : ops_(&ops), promise_(&promise) {}
  ~Combiner() = default;

  void set_inputs(std::span<CombinedInput> inputs) noexcept;
  [[nodiscard]] std::span<CombinedInput> inputs() const noexcept { return inputs_; }
  /// Drops a share of the memory.
  void drop_memory() noexcept {
    if (memory_.drop()) ops_->destroy(*this);
  }

 private:
  friend struct CombinedInput;

  void react(CombinedInput& input) noexcept;
  void drop(CombinedInput& input) noexcept;
  void end(CombinedInput& input) noexcept;
  [[nodiscard]] bool decide() noexcept;
  [[nodiscard]] bool is_decided() const noexcept;
  void settle_as(CombinedInput& input) noexcept;
  void settle_unanimous() noexcept;
  void reject_with_all() noexcept;
  void fulfil(std::size_t decider) noexcept;
  void reject(const Reason& reason, bool by_abort) noexcept;

  const Ops* ops_;
  PromiseStateBase* promise_;
  std::span<CombinedInput> inputs_;
  RefCount open_{0};  ///< inputs that have not ended
  RefCount memory_{2};
  sync::atomic<bool> decided_{false};
};

/// The type of a value in a tuple, a variant or a vector: std::monostate stands for void, and
/// references are wrapped.
template <class T>
struct CombinedElement {
  using type = T;
};
template <>
struct CombinedElement<void> {
  using type = std::monostate;
};
template <class T>
struct CombinedElement<T&> {
  using type = std::reference_wrapper<T>;
};
template <class T>
using CombinedElementType = typename CombinedElement<T>::type;

/// The typed state of an input.
template <class T>
[[nodiscard]] PromiseState<T>& source_of(const CombinedInput& input) noexcept {
  return static_cast<PromiseState<T>&>(*input.source);
}

/// The value of a fulfilled input, as an element.
template <class T>
[[nodiscard]] CombinedElementType<T> element_of(const CombinedInput& input) {
  if constexpr (std::is_void_v<T>) {
    return {};
  } else if constexpr (std::is_reference_v<T>) {
    return *source_of<T>(input).value();
  } else {
    return value_to_keep(source_of<T>(input));
  }
}

/// The node of a combinator. `Rule` says what its promise settles with.
template <class Rule>
class CombinedNode final : public PromiseState<typename Rule::Result>, public Combiner {
 public:
  using State = PromiseState<typename Rule::Result>;

  /// The state has two shares: the handle's, and the one of the input that decides.
  explicit CombinedNode(std::size_t count)
      : State(&destroy_state, 2), Combiner(table, *this), places_(Rule::places(count)) {
    set_inputs(places_);
    if constexpr (requires { Rule::prepare(state_of(*this), count); }) {
      Rule::prepare(state_of(*this), count);
    }
  }

  using Combiner::inputs;

 private:
  static CombinedNode& of(Combiner& combiner) noexcept {
    return static_cast<CombinedNode&>(combiner);
  }
  static State& state_of(Combiner& combiner) noexcept { return of(combiner); }
  static void make_value(Combiner& combiner, std::size_t decider) {
    Rule::make_value(state_of(combiner), of(combiner).inputs(), decider);
  }
  static void discard(Combiner& combiner) noexcept { state_of(combiner).discard_value(); }
  static void destroy_memory(Combiner& combiner) noexcept { destroy_node(of(combiner)); }
  /// No handle is left. The value is destroyed now; the node stays until all inputs have ended.
  static void destroy_state(PromiseStateBase& base) noexcept {
    auto& self = static_cast<CombinedNode&>(static_cast<State&>(base));
    self.discard_value();
    self.discard_reason();
    self.drop_memory();
  }
  static constexpr Ops table{Rule::unanimous, &make_value, &discard, &destroy_memory};

  typename Rule::Places places_;
};

/// A promise, or a vector of promises, that a combinator accepts. If its values are move-only it
/// must be an rvalue, because the combinator keeps it.
template <class T>
inline constexpr bool may_combine = false;
template <class T>
inline constexpr bool may_combine<Promise<T>> = true;
template <class T>
inline constexpr bool may_combine<Promise<T>&> = is_copyable<typename PromiseValue<T>::type>;
template <class T>
inline constexpr bool may_combine<const Promise<T>> = true;
template <class T>
inline constexpr bool may_combine<const Promise<T>&> = may_combine<Promise<T>&>;
template <class T>
inline constexpr bool may_combine<std::vector<Promise<T>>> = true;
template <class T>
inline constexpr bool may_combine<std::vector<Promise<T>>&> = may_combine<Promise<T>&>;
template <class T>
inline constexpr bool may_combine<const std::vector<Promise<T>>&> = may_combine<Promise<T>&>;

template <class T>
inline constexpr bool is_promise_vector = false;
template <class T>
inline constexpr bool is_promise_vector<std::vector<Promise<T>>> = true;

/// What a combinator takes: promises, or one vector of promises.
template <class... Inputs>
concept Combinable =
    (may_combine<Inputs> && ...) &&
    (sizeof...(Inputs) == 1 || !(is_promise_vector<std::remove_cvref_t<Inputs>> || ...));

/// As Combinable, but at least one promise: a combinator without inputs could not end.
template <class... Inputs>
concept CombinableSome = Combinable<Inputs...> && sizeof...(Inputs) > 0;

/// How many inputs these are.
template <class... Inputs>
[[nodiscard]] std::size_t count_inputs(const Inputs&... inputs) noexcept {
  if constexpr ((is_promise_vector<Inputs> || ...)) {
    return (inputs.size(), ...);
  } else {
    return sizeof...(Inputs);
  }
}

/// Errors: std::invalid_argument for a handle that was moved from.
template <class T>
void check_valid(const Promise<T>& promise) {
  Access::check_valid(promise, "when_all, when_any or race: a promise");
}
template <class T>
void check_valid(const std::vector<Promise<T>>& promises) {
  for (const auto& promise : promises) check_valid(promise);
}

/// Gives the places their promises: the handle of an rvalue, a copy of an lvalue.
template <class T>
void hold(CombinedInput*& place, Promise<T> promise) noexcept {
  (place++)->source = Ref<PromiseStateBase>::adopt(Access::into_state(std::move(promise)).detach());
}
template <class Inputs>
  requires is_promise_vector<std::remove_cvref_t<Inputs>>
void hold(CombinedInput*& place, Inputs&& inputs) noexcept {
  for (auto& promise : inputs) {
    if constexpr (std::is_lvalue_reference_v<Inputs>) {
      hold(place, promise);
    } else {
      hold(place, std::move(promise));
    }
  }
}

/// Makes a combinator's promise, on the scheduler's loop or, without a scheduler, on the current
/// one.
/// Errors: NotAllowedError, std::bad_alloc, std::invalid_argument; the inputs are then untouched.
template <class Rule, class... Inputs>
[[nodiscard]] auto combine(const Scheduler* scheduler, Inputs&&... inputs) {
  using Node = CombinedNode<Rule>;
  (check_valid(inputs), ...);
  Combiner::require_loop(scheduler);
  Node* node = make_node<Node>(count_inputs(inputs...));
  auto result =
      Access::make<Promise<typename Rule::Result>>(Ref<typename Node::State>::adopt(node));
  [[maybe_unused]] CombinedInput* place = node->inputs().data();
  (hold(place, std::forward<Inputs>(inputs)), ...);
  node->start(scheduler);
  return result;
}

}  // namespace HEIST_NAMESPACE::detail
