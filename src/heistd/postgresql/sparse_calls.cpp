#include <exception>
#include <heistd/postgresql/sparse_calls.hpp>
#include <utility>

namespace heistd {

void SparseCalls::ask() noexcept {
  if (is_pausing_) {
    is_due_ = true;
    return;
  }
  try {
    call_();
    pause_.expires_after(time_);
    pause_.async_wait(
        [this, weak = std::weak_ptr(alive_)](const boost::system::error_code& /*over or ended*/) {
          if (weak.expired()) return;
          is_pausing_ = false;
          if (std::exchange(is_due_, false)) ask();
        });
    is_pausing_ = true;
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace heistd
