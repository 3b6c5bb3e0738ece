#include <algorithm>
#include <heistd/backoff.hpp>

namespace heistd {

std::chrono::milliseconds Backoff::operator()(Attempt attempts) noexcept {
  constexpr std::chrono::milliseconds first{1000};
  constexpr std::chrono::milliseconds most{60'000};
  const auto pause = std::min(first * (1U << std::min(attempts - 1, 6U)), most);
  return pause + std::chrono::milliseconds(chance_() % static_cast<unsigned>(pause.count()));
}

}  // namespace heistd
