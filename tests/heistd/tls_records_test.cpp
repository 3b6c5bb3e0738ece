// SEC-3: what is sent with TLS is what was to be sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <heistd/tls_records.hpp>
#include <string>
#include <vector>

namespace heistd {
namespace {

using Buffers = std::vector<boost::asio::const_buffer>;
using Records = TlsRecords<Buffers>;

Buffers buffers_of(const std::vector<std::string>& pieces) {
  Buffers buffers;
  for (const auto& piece : pieces) buffers.push_back(boost::asio::buffer(piece));
  return buffers;
}

std::vector<std::string> records_of(const Buffers& buffers) {
  std::vector<std::string> all;
  Records records(buffers);
  for (auto record = records.next(); record.size() > 0; record = records.next()) {
    all.emplace_back(static_cast<const char*>(record.data()), record.size());
  }
  return all;
}

TEST(TlsRecords, next_when_pieces_are_small_then_they_are_one_record) {
  const std::vector<std::string> pieces{"", "head", "", "body", ""};
  EXPECT_EQ(records_of(buffers_of(pieces)), std::vector<std::string>{"headbody"});
  EXPECT_TRUE(records_of(buffers_of({"", ""})).empty());
  EXPECT_TRUE(records_of({}).empty());
}

TEST(TlsRecords, next_when_a_piece_is_large_then_its_records_are_not_copied) {
  const std::vector<std::string> pieces{std::string(Records::most_bytes + 5, 'a'), "b"};
  const auto buffers = buffers_of(pieces);
  Records records(buffers);
  EXPECT_EQ(records.next().data(), pieces[0].data());
  EXPECT_EQ(records_of(buffers),
            (std::vector<std::string>{std::string(Records::most_bytes, 'a'), "aaaaab"}));
}

TEST(TlsRecords, next_when_begun_anew_behind_any_record_then_the_others_are_the_same) {
  const std::vector<std::string> pieces{"head", std::string(40'000, 'a'), std::string(7, 'b'),
                                        std::string(Records::most_bytes, 'c'), "d"};
  auto rest = buffers_of(pieces);
  for (auto records = records_of(rest); !records.empty(); records.erase(records.begin())) {
    ASSERT_EQ(records_of(rest), records);
    auto bytes = records.front().size();
    for (auto& buffer : rest) {
      const auto taken = std::min(bytes, buffer.size());
      buffer += taken;
      bytes -= taken;
    }
  }
}

}  // namespace
}  // namespace heistd
