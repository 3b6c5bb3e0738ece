// What the tests of TaskScope share.
#pragma once

#include <atomic>
#include <exception>
#include <heist/heist.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "cluster/cluster_fixture.hpp"

namespace heist::support {

/// What a call throws: the text of an exception, or of the plain value that an Aborted carries;
/// "nothing" when it returns.
template <class Call>
[[nodiscard]] std::string what_is_thrown_by(Call call) {
  try {
    call();
  } catch (const Aborted& aborted) {
    return aborted.reason().what();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing";
}
[[nodiscard]] inline std::string what_is_thrown_by_join(TaskScope& scope) {
  return what_is_thrown_by([&] { scope.join(); });
}

/// Something that tasks capture by value. When it goes, it counts that in what its owner has, in a
/// way that orders nothing. So a join that returns too early is a race with the owner, or a use of
/// memory that is gone.
class Touching {
 public:
  explicit Touching(int& touched) : touched_(&touched) {}
  Touching(Touching&& other) noexcept : touched_(std::exchange(other.touched_, nullptr)) {}
  Touching& operator=(Touching&&) = delete;
  ~Touching() {
    if (touched_ != nullptr) std::atomic_ref(*touched_).fetch_add(1, std::memory_order_relaxed);
  }

 private:
  int* touched_;
};

/// Once with as many agents as the parameter says.
class ScopeOn : public ClusterOf {};

}  // namespace heist::support
