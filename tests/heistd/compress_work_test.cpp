#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <heistd/limits.hpp>
#include <random>

#include "work_helpers.hpp"

namespace heistd {
namespace {

std::string compress(std::string_view bytes, std::size_t block) {
  const auto work = make_compress_work(cut(bytes, block));
  return join(*std::get<BytesResult>(run(*work)).data);
}

std::string expand(const std::string& frame, std::size_t expected) {
  std::string bytes(expected, '\0');
  const auto size = ZSTD_decompress(bytes.data(), bytes.size(), frame.data(), frame.size());
  EXPECT_EQ(ZSTD_isError(size), 0U) << ZSTD_getErrorName(size);
  EXPECT_EQ(size, expected);
  return bytes;
}

std::string noise(std::size_t bytes) {
  std::mt19937 random(1);
  std::string text(bytes, '\0');
  std::ranges::generate(text, [&] { return static_cast<char>(random()); });
  return text;
}

TEST(CompressWork, result_when_expanded_then_the_upload) {
  const auto repetitive = std::string(300 * kib, 'r') + "end";
  for (const auto& bytes : {std::string("short"), repetitive, noise(300 * kib)}) {
    EXPECT_EQ(expand(compress(bytes, block_bytes), bytes.size()), bytes);
    EXPECT_EQ(expand(compress(bytes, 1000), bytes.size()), bytes);
  }
}

TEST(CompressWork, result_when_upload_empty_then_an_empty_frame) {
  const auto frame = compress("", block_bytes);
  EXPECT_FALSE(frame.empty());
  EXPECT_EQ(expand(frame, 0), "");
}

TEST(CompressWork, result_when_repetitive_then_far_smaller) {
  EXPECT_LT(compress(std::string(mib, 'r'), block_bytes).size(), 1000U);
}

TEST(CompressWork, working_bytes_when_one_chunk_then_none_kept) {
  EXPECT_EQ(compress_kind().working_bytes(block_bytes), 0U);
  EXPECT_GT(compress_kind().working_bytes(2 * block_bytes), 0U);
}

}  // namespace
}  // namespace heistd
