// Tests that states that were not kept are recomputed with the same bits.

#include "native/kernel/uniformization/checkpoints.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "native/kernel/model/model.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/uniformization/power_walk.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

constexpr int64_t kPhases = 1000;
constexpr size_t kMuch = size_t{1} << 30;

// A model whose phases form a ring. Each phase has its own rates to the next
// phase and to absorption.
struct Ring {
  Ring() : initial(kPhases), rates(2 * kPhases), tangents(2 * kPhases) {
    for (int64_t i = 0; i < kPhases; ++i) {
      initial[i] = i < 3 ? 0.3 : 0.0;
      rates[i] = 1.0 / static_cast<double>(2 + i % 7);
      rates[kPhases + i] = 0.01 / static_cast<double>(1 + i % 11);
      for (const int32_t target : {static_cast<int32_t>((i + 1) % kPhases),
                                   static_cast<int32_t>(kPhases)}) {
        (target == kPhases ? exits : moves).push_back(target);
      }
      sources.push_back(static_cast<int32_t>(i));
    }
    targets = moves;
    targets.insert(targets.end(), exits.begin(), exits.end());
    sources.insert(sources.end(), sources.begin(), sources.begin() + kPhases);
    for (size_t e = 0; e < rates.size(); ++e) tangents[e] = rates[e] / 3.0;
    input.num_phases = kPhases;
    input.epsilon = 2.2e-16;
    input.initial_probs = {initial.data(), {zeros.data()}};
    input.subgenerator = {rates.data(), {tangents.data()}};
    input.edges = {2 * kPhases, sources.data(), targets.data(),
                   nullptr,     nullptr,        2 * kPhases};
  }

  std::vector<double> initial;
  std::vector<double> rates;
  std::vector<double> tangents;
  std::vector<double> zeros = std::vector<double>(kPhases);
  std::vector<int32_t> moves;
  std::vector<int32_t> exits;
  std::vector<int32_t> sources;
  std::vector<int32_t> targets;
  SweepInput input = {};
};

// Returns the sixteen states of each block, computed in one run from the first
// to the last block.
template <class T>
std::vector<T> AllStates(const Model<T>& model, int64_t num_blocks) {
  Workspace workspace(kMuch);
  PowerWalk<T> walk(&workspace);
  EXPECT_TRUE(walk.Allocate(model.size, model.stride));
  for (int64_t i = 0; i < model.size; ++i) walk.state()[i] = model.initial[i];
  std::vector<T> states;
  for (int64_t b = 0; b < num_blocks; ++b) {
    walk.Rescale();
    walk.StepBlock(model.forward, b, nullptr, [&](int, const T* state) {
      states.insert(states.end(), state, state + model.stride);
    });
  }
  return states;
}

template <class T>
void ExpectSameStates(Sequence<T>* sequence, const std::vector<T>& expected,
                      int64_t num_blocks) {
  const auto size = static_cast<size_t>(kBlock * sequence->model().stride);
  std::vector<T> rows(size);
  for (int64_t b = num_blocks - 1; b >= 0; --b) {
    const T* states = sequence->States(b, rows.data());
    ASSERT_NE(states, nullptr) << b;
    ASSERT_EQ(std::memcmp(states, &expected[static_cast<size_t>(b) * size],
                          size * sizeof(T)),
              0)
        << b;
  }
}

template <class T>
class RingTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(ModelBuilder<T>(ring_.input, &memory_, &model_).Build(), kOk);
  }

  const FloatEnvironment environment_{Denormals::kFlush};
  const Ring ring_;
  Workspace memory_{kMuch};
  Model<T> model_;
};

template <class T>
class CheckpointsTest : public RingTest<T> {};
using Scalars = testing::Types<double, Dual<double>>;
TYPED_TEST_SUITE(CheckpointsTest, Scalars);

TYPED_TEST(CheckpointsTest, StatesMadeAgainHaveTheSameBits) {
  using T = TypeParam;
  const Model<T>& model = this->model_;
  constexpr int64_t kBlocks = 230;
  constexpr int64_t kMoreBlocks = 260;
  const std::vector<T> expected = AllStates(model, kMoreBlocks);
  constexpr int64_t kStateBytes = 2 * kPhases * sizeof(T);
  constexpr int64_t kBudget = 20 * kStateBytes;
  // The memory suffices for the first states of about 30 blocks. The states of
  // all blocks would need far more.
  constexpr int64_t kOther = sizeof(T) << 17;
  Workspace little(kMaxKeptBytes<T> + 32 * kStateBytes + kOther);
  const int64_t whole = kMaxKeptBytes<T> / (kBlock * kStateBytes / 2);
  ASSERT_GT((kBlocks - whole) * kStateBytes, 32 * kStateBytes + kOther);
  Sequence<T> sequence(model, false, true, &little, kBudget);
  ASSERT_EQ(sequence.Start(), kOk);
  StatusCode status = kOk;
  ASSERT_NE(sequence.Get(kBlocks - 1, &status), nullptr) << status;
  ExpectSameStates(&sequence, expected, kBlocks);
  // Computes more blocks, and then requests all states again.
  ASSERT_NE(sequence.Get(kMoreBlocks - 1, &status), nullptr) << status;
  ExpectSameStates(&sequence, expected, kMoreBlocks);
}

TYPED_TEST(CheckpointsTest, TooLittleMemoryIsAnErrorEachTime) {
  using T = TypeParam;
  const Model<T>& model = this->model_;
  constexpr int64_t kStateBytes = 2 * kPhases * sizeof(T);
  Workspace little(kMaxKeptBytes<T> + 32 * kStateBytes);
  Sequence<T> sequence(model, false, true, &little, 4000 * kStateBytes);
  ASSERT_EQ(sequence.Start(), kOk);
  for (int k = 0; k < 3; ++k) {
    StatusCode status = kOk;
    EXPECT_EQ(sequence.Get(4000, &status), nullptr);
    EXPECT_EQ(status, kMemoryLimit);
  }
}

using SequenceTest = RingTest<double>;
TEST_F(SequenceTest, WithoutABackwardSweepNoStatesAreKept) {
  constexpr int64_t kBlocks = 1000;
  Workspace little(size_t{1} << 20);
  ASSERT_GT(kBlocks * kPhases * sizeof(double), size_t{1} << 22);
  Sequence<double> sequence(model_, true, false, &little);
  ASSERT_EQ(sequence.Start(), kOk);
  StatusCode status = kOk;
  EXPECT_NE(sequence.Get(kBlocks - 1, &status), nullptr) << status;
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
