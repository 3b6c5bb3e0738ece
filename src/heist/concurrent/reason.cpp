#include <heist/error.hpp>
#include <heist/reason.hpp>

#include <utility>

#include "lasting_reason.hpp"
#include "rethrown.hpp"

namespace heist {

/// What a Reason shares: an exception or a value, never changed.
class Reason::Box {
 public:
  Box(std::exception_ptr exception, std::any value) noexcept
      : exception_(std::move(exception)), value_(std::move(value)) {}

  [[nodiscard]] const std::exception_ptr& exception() const noexcept { return exception_; }
  [[nodiscard]] const std::any& value() const noexcept { return value_; }

  friend void retain(Box& box) noexcept;
  friend void release(Box& box) noexcept;

 private:
  RefCount shares_{1};
  std::exception_ptr exception_;
  std::any value_;
};

void retain(Reason::Box& box) noexcept { box.shares_.add(); }

void release(Reason::Box& box) noexcept {
  if (box.shares_.drop()) delete &box;
}

thread_local constinit Reason* rethrown = nullptr;

void forget_all(Reason& remembered) noexcept {
  while (remembered) {
    const Reason gone = std::exchange(remembered, {});
  }
}

Ref<Reason::Box> Reason::make(std::exception_ptr exception, std::any value) {
  return Ref<Box>::adopt(new Box(std::move(exception), std::move(value)));
}

const std::any& Reason::value_of(const Box& box) noexcept { return box.value(); }

Reason Reason::of(std::exception_ptr exception) noexcept {
  if (rethrown != nullptr && *rethrown && rethrown->box_->exception() == exception) {
    return *rethrown;
  }
  try {
    std::rethrow_exception(exception);
  } catch (const Aborted& aborted) {
    // The plain value it carries, not the carrier.
    if (!aborted.reason().exception()) return aborted.reason();
  } catch (...) {
  }
  try {
    return Reason(std::move(exception));
  } catch (...) {
    return out_of_memory();
  }
}

const Reason& Reason::out_of_memory() noexcept {
  static const LastingReason reason{std::bad_alloc()};
  return reason.get();
}

std::exception_ptr Reason::exception() const noexcept { return box_ ? box_->exception() : nullptr; }

void Reason::rethrow() const {
  if (!exception()) throw Aborted(*this);
  const Reason kept = *this;  // what is forgotten may be the last holder of ours
  if (rethrown != nullptr) {
    forget(*rethrown);
    *rethrown = kept;
  }
  std::rethrow_exception(kept.exception());
}

std::string Reason::what() const {
  if (!box_) return "no reason";
  if (box_->exception()) {
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

}  // namespace heist
