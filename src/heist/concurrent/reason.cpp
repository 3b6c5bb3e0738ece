#include <heist/detail/access.hpp>
#include <heist/detail/node_memory.hpp>
#include <heist/detail/sync.hpp>
#include <heist/error.hpp>

#include <memory>
#include <utility>
#include <vector>

#include "lasting_reason.hpp"
#include "rethrown.hpp"

namespace HEIST_NAMESPACE::detail {

/// What copies of a Reason share: an exception or a value, which never changes. An abort without a
/// reason has an AbortError. It is made only when somebody asks for it, because nobody ever looks
/// at most of them.
///
/// Edge reason: make -> look. Carries the exception.
class ReasonBox {
 public:
  ReasonBox(std::exception_ptr exception, std::any value) noexcept
      : exception_(std::move(exception)), value_(std::move(value)) {}
  /// Makes the box of an abort without a reason.
  ReasonBox() noexcept : is_abort_(true) {}
  ReasonBox(const ReasonBox&) = delete;
  ReasonBox& operator=(const ReasonBox&) = delete;
  ~ReasonBox() { delete late_.load(sync::relaxed); }  // relaxed: no other user is left (RefCount).

  /// Tells without making the exception.
  [[nodiscard]] bool is_abort() const noexcept { return is_abort_; }
  [[nodiscard]] bool has_exception() const noexcept { return is_abort_ || exception_ != nullptr; }
  [[nodiscard]] const std::exception_ptr& exception() const noexcept {
    return is_abort_ ? late_exception() : exception_;
  }
  [[nodiscard]] const std::any& value() const noexcept { return value_; }
  [[nodiscard]] bool is(const std::exception_ptr& exception) const noexcept {
    if (!is_abort_) return exception_ == exception;
    const auto* made = late_.load(sync::edge("reason:look", sync::acquire));
    return made != nullptr && *made == exception;
  }

  friend void retain(ReasonBox& box) noexcept;
  friend void release(ReasonBox& box) noexcept;

 private:
  /// Threads that ask at the same time may make several exceptions; one stays. Without memory the
  /// call returns std::bad_alloc this time.
  const std::exception_ptr& late_exception() const noexcept {
    auto* made = late_.load(sync::edge("reason:look", sync::acquire));
    if (made != nullptr) return *made;
    try {
      return keep(std::make_unique<std::exception_ptr>(std::make_exception_ptr(AbortError())));
    } catch (...) {
      return Access::box(Reason::out_of_memory())->exception();
    }
  }
  const std::exception_ptr& keep(std::unique_ptr<std::exception_ptr> mine) const noexcept {
    std::exception_ptr* made = nullptr;
    if (late_.compare_exchange_strong(made, mine.get(), sync::edge("reason:make", sync::release),
                                      sync::edge("reason:look", sync::acquire))) {
      return *mine.release();
    }
    return *made;
  }

  RefCount shares_{1};
  const bool is_abort_ = false;
  std::exception_ptr exception_;
  std::any value_;
  mutable sync::atomic<std::exception_ptr*> late_{nullptr};
  ReasonBox* next_gone_ = nullptr;  ///< the next of those that end with another one
};

void retain(ReasonBox& box) noexcept { box.shares_.add(); }

/// An AggregateError holds reasons, and each of these may be such an error, too. To bound the depth
/// of the stack, each is destroyed after the one that held it, and not within its destructor.
void release(ReasonBox& box) noexcept {
  thread_local constinit bool is_at_it = false;
  thread_local constinit ReasonBox* gone = nullptr;
  if (!box.shares_.drop()) return;
  box.next_gone_ = std::exchange(gone, &box);
  if (std::exchange(is_at_it, true)) return;
  while (gone != nullptr) destroy_node(*std::exchange(gone, gone->next_gone_));
  is_at_it = false;
}

/// What the copies of an AggregateError share.
class ReasonList {
 public:
  explicit ReasonList(std::vector<Reason> reasons) noexcept : reasons_(std::move(reasons)) {}
  [[nodiscard]] const std::vector<Reason>& reasons() const noexcept { return reasons_; }

  friend void retain(ReasonList& list) noexcept;
  friend void release(ReasonList& list) noexcept;

 private:
  RefCount shares_{1};
  std::vector<Reason> reasons_;
};

void retain(ReasonList& list) noexcept { list.shares_.add(); }

void release(ReasonList& list) noexcept {
  if (list.shares_.drop()) destroy_node(list);
}

thread_local constinit Reason* rethrown = nullptr;

void forget_all(Reason& remembered) noexcept {
  while (remembered) {
    const Reason gone = std::exchange(remembered, {});
  }
}

}  // namespace HEIST_NAMESPACE::detail

namespace HEIST_NAMESPACE {

using namespace detail;

Ref<ReasonBox> Reason::make(std::exception_ptr exception, std::any value) {
  return Ref<Box>::adopt(make_node<Box>(std::move(exception), std::move(value)));
}

Reason Reason::of_abort() { return Reason(Ref<Box>::adopt(make_node<Box>())); }

const std::any& Reason::value_of(const Box& box) noexcept { return box.value(); }

Reason Reason::of(std::exception_ptr exception) noexcept {
  if (rethrown != nullptr && *rethrown && rethrown->box_->is(exception)) {
    return *rethrown;
  }
  try {
    std::rethrow_exception(exception);
  } catch (const Aborted& aborted) {
    // Return the plain value that the Aborted carries, not the Aborted.
    if (!aborted.reason().exception()) return aborted.reason();
  } catch (...) {
  }
  try {
    return Reason(std::move(exception));
  } catch (...) {
    return out_of_memory();
  }
}

AggregateError::AggregateError(std::vector<Reason> reasons)
    : runtime_error("all promises were rejected"),
      reasons_(Ref<ReasonList>::adopt(make_node<ReasonList>(std::move(reasons)))) {}

const std::vector<Reason>& AggregateError::reasons() const noexcept { return reasons_->reasons(); }

const Reason& Reason::out_of_memory() noexcept {
  static const LastingReason reason{std::bad_alloc()};
  return reason.get();
}

std::exception_ptr Reason::exception() const noexcept { return box_ ? box_->exception() : nullptr; }

bool Reason::is_error() const noexcept {
  if (!box_ || box_->is_abort() || !box_->has_exception()) return false;
  try {
    std::rethrow_exception(box_->exception());
  } catch (const AbortError&) {
    return false;
  } catch (const Aborted&) {
    return false;
  } catch (...) {
    return true;
  }
}

void Reason::rethrow() const {
  if (!box_ || !box_->has_exception()) throw Aborted(*this);
  const Reason kept = *this;  // what is forgotten may be the last holder of ours
  if (rethrown != nullptr) {
    forget(*rethrown);
    *rethrown = kept;
  }
  std::rethrow_exception(kept.exception());
}

std::string Reason::what() const {
  if (!box_) return "no reason";
  if (box_->has_exception()) {
    try {
      std::rethrow_exception(box_->exception());
    } catch (const std::exception& error) {
      return error.what();
    } catch (...) {
      return "an exception that is not a std::exception";
    }
  }
  if (const auto* text = value<std::string>()) return *text;
  return std::string("a value of type ") + box_->value().type().name();
}

}  // namespace HEIST_NAMESPACE
