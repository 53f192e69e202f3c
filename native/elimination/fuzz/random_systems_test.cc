// Runs the fuzzer's checks on random inputs, without a fuzzing engine.

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "native/elimination/fuzz/checks.h"
#include "native/kernel/fuzz/byte_source.h"

namespace phasic {
namespace fuzz {
namespace {

constexpr uint64_t kNumRandomInputs = 4000;

TEST(RandomSystemsTest, RunClean) {
  for (uint64_t seed = 0; seed < kNumRandomInputs; ++seed) {
    Generator random(seed);
    std::vector<uint8_t> bytes(30 + random.Next() % 40);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next());
    EXPECT_EQ(CheckSystemBytes(bytes.data(), bytes.size()), "")
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace fuzz
}  // namespace phasic
