// TrackedWork: counts as outstanding work of a TaskContext for as long as it exists.
#pragma once

#include <heist/asio/task_context.hpp>
#include <utility>

namespace HEIST_ASIO_NAMESPACE {

/// One unit of outstanding work, or none. A copy is one more unit; a move hands the unit over.
class TrackedWork {
 public:
  TrackedWork() noexcept = default;
  explicit TrackedWork(TaskContext& context) noexcept : context_(&context) { context.add_work(); }
  TrackedWork(const TrackedWork& other) noexcept : context_(other.context_) {
    if (context_ != nullptr) context_->add_work();
  }
  TrackedWork(TrackedWork&& other) noexcept : context_(std::exchange(other.context_, nullptr)) {}
  TrackedWork& operator=(TrackedWork other) noexcept {
    std::swap(context_, other.context_);
    return *this;
  }
  ~TrackedWork() {
    if (context_ != nullptr) context_->drop_work();
  }

  [[nodiscard]] bool counts() const noexcept { return context_ != nullptr; }

 private:
  TaskContext* context_ = nullptr;
};

}  // namespace HEIST_ASIO_NAMESPACE
