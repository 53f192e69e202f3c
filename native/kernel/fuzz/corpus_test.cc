// Runs the fuzzer's checks on stored inputs and on random ones, without a
// fuzzing engine.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "native/kernel/fuzz/byte_source.h"
#include "native/kernel/fuzz/checks.h"

namespace phasic {
namespace fuzz {
namespace {

constexpr char kCorpus[] = "native/kernel/fuzz/corpus";
constexpr uint64_t kNumRandomInputs = 400;

std::vector<uint8_t> ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file),
          std::istreambuf_iterator<char>()};
}

TEST(CorpusTest, StoredInputsRunClean) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kCorpus)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  ASSERT_FALSE(paths.empty());
  for (const std::filesystem::path& path : paths) {
    const std::vector<uint8_t> bytes = ReadFile(path);
    EXPECT_EQ(CheckBytes(bytes.data(), bytes.size()), "") << path;
  }
}

TEST(CorpusTest, RandomInputsRunClean) {
  for (uint64_t seed = 0; seed < kNumRandomInputs; ++seed) {
    Generator random(seed);
    std::vector<uint8_t> bytes(30 + random.Next() % 60);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random.Next());
    EXPECT_EQ(CheckBytes(bytes.data(), bytes.size()), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace fuzz
}  // namespace phasic
