#include <algorithm>
#include <heistd/backoff.hpp>

namespace heistd {

std::chrono::milliseconds Backoff::operator()(Attempt attempts) noexcept {
  const auto pause = std::min(first_ * (1U << std::min(attempts - 1, 6U)), most_);
  return pause + std::chrono::milliseconds(chance_() % static_cast<unsigned>(pause.count()));
}

}  // namespace heistd
