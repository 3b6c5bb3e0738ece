// PostedFrom: tests whose parameter is the place from which they use the loop.
#pragma once

#include <functional>
#include <string>

#include "support/origin.hpp"
#include "support/virtual_loop_fixture.hpp"

namespace heist::support {

class PostedFrom : public VirtualLoopFixture, public testing::WithParamInterface<Origin> {
 protected:
  /// Does the work in the place that the parameter says, and waits for its end.
  void from_origin(const std::function<void()>& work) { from(GetParam(), work); }
};

inline const auto every_origin =
    testing::Values(Origin::task, Origin::driver, Origin::other_thread);

inline std::string origin_name(const testing::TestParamInfo<Origin>& info) {
  return to_string(info.param);
}

}  // namespace heist::support
