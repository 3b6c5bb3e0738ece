#include <heist/detail/frame_destruction.hpp>

namespace HEIST_NAMESPACE::detail {

namespace {

thread_local constinit int destructions = 0;

}  // namespace

FrameDestruction::FrameDestruction(const SchedulingState& state) noexcept
    : within_(state.is_of_scope ? state.abort_source : nullptr) {
  ++destructions;
}

FrameDestruction::~FrameDestruction() { --destructions; }

int FrameDestruction::count_here() noexcept { return destructions; }

}  // namespace HEIST_NAMESPACE::detail
