#include <gtest/gtest.h>

#include <algorithm>

#include "work_helpers.hpp"

namespace heistd {
namespace {

std::string digest_of(std::string_view bytes, std::size_t block) {
  const auto work = make_digest_work(cut(bytes, block));
  return json_of(run(*work))["sha256"];
}

// The vectors of FIPS 180-4's examples.
struct Vector {
  std::string bytes;
  std::string digest;
};

class KnownDigests : public testing::TestWithParam<Vector> {};

TEST_P(KnownDigests, digest_when_cut_anyhow_then_the_known_value) {
  for (const std::size_t block : {1U, 3U, 64U, 100000U}) {
    EXPECT_EQ(digest_of(GetParam().bytes, block), GetParam().digest) << "blocks of " << block;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Fips, KnownDigests,
    testing::Values(Vector{"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
                    Vector{"abc",
                           "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                    Vector{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                           "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
                    Vector{std::string(1000000, 'a'),
                           "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"}));

TEST(DigestWork, step_when_called_then_one_block_is_done) {
  const auto work = make_digest_work(cut(std::string(1000, 'x'), 100));
  std::size_t steps = 0;
  run(*work, std::chrono::hours(1), &steps);
  EXPECT_EQ(steps, 10U);
}

}  // namespace
}  // namespace heistd
