#include <heist/agent_cluster.hpp>

#include "../cluster/member.hpp"

namespace HEIST_NAMESPACE {

using namespace detail;

BlockingScope::BlockingScope() noexcept : member_(Member::here()) {
  if (member_ == nullptr || !member_->begin_blocking()) member_ = nullptr;
}

BlockingScope::~BlockingScope() {
  if (member_ != nullptr) member_->end_blocking();
}

}  // namespace HEIST_NAMESPACE
