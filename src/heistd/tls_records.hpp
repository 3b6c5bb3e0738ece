// TlsRecords: what is to be sent, a record of TLS at a time.
#pragma once

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <utility>

namespace heistd {

/// Cuts buffers into records. Small pieces go together, as a head and a short body do, and large
/// ones are not copied. Where a record ends depends on its beginning only: what a socket did not
/// take is cut in the same way again.
///
/// Lifetime: within the buffers'; a record, until the next one.   Cost: a copy of small pieces.
template <class Buffers>
class TlsRecords {
 public:
  /// The most that a record of TLS may hold.
  static constexpr std::size_t most_bytes = std::size_t{16} * 1024;

  explicit TlsRecords(const Buffers& buffers)
      : next_(boost::asio::buffer_sequence_begin(buffers)),
        end_(boost::asio::buffer_sequence_end(buffers)) {
    skip_empty();
  }

  /// Empty when there is nothing more.
  [[nodiscard]] boost::asio::const_buffer next() {
    if (here_.size() >= most_bytes) return take(most_bytes);
    std::size_t filled = 0;
    while (here_.size() > 0 && filled < most_bytes) {
      filled += boost::asio::buffer_copy(boost::asio::buffer(room_) + filled,
                                         take(std::min(here_.size(), most_bytes - filled)));
    }
    return boost::asio::buffer(room_.data(), filled);
  }

 private:
  boost::asio::const_buffer take(std::size_t bytes) {
    const auto taken = boost::asio::buffer(here_, bytes);
    here_ += bytes;
    skip_empty();
    return taken;
  }
  void skip_empty() {
    while (here_.size() == 0 && next_ != end_) here_ = boost::asio::const_buffer(*next_++);
  }

  using Position = decltype(boost::asio::buffer_sequence_begin(std::declval<const Buffers&>()));
  Position next_;
  const Position end_;
  boost::asio::const_buffer here_;
  std::array<char, most_bytes> room_;
};

}  // namespace heistd
