#include "drops.hpp"

#include <utility>

#include "../loop/drive_scope.hpp"

namespace HEIST_NAMESPACE::detail {

thread_local constinit Drops* Drops::innermost = nullptr;

Drops::Drops() noexcept : outer_(std::exchange(innermost, this)) {}

Drops::~Drops() { innermost = outer_; }

void Drops::drop() noexcept {
  while (!nodes_.empty()) {
    LoopNode& node = nodes_.pop();
    node.ops->kind == LoopNodeKind::task ? node.ops->drop(node) : drop_undeliverable(node);
  }
}

void Drops::drop_all() noexcept {
  for (Drops* at = innermost; at != nullptr; at = at->outer_) {
    at->add_found();
    at->drop();
  }
}

void Drops::drop_behind() noexcept {
  const DrivePause pause;
  drop_all();
}

}  // namespace HEIST_NAMESPACE::detail
