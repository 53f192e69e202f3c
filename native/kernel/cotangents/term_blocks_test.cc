#include "native/kernel/cotangents/term_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "native/kernel/model/model.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

// Tests with a model of one phase, whose exit rate is one.
class TermBlocksTest : public testing::Test {
 protected:
  TermBlocksTest() : workspace_(size_t{1} << 30) {
    SweepInput input = {};
    input.num_phases = 1;
    input.has_exit_rates = true;
    input.epsilon = 2.2e-16;
    input.initial_probs.value = input.exit_rates.value = &one_;
    input.subgenerator.value = &zero_;
    EXPECT_EQ(ModelBuilder<double>(input, &workspace_, &model_).Build(), kOk);
    EXPECT_EQ(sequence_.Start(), kOk);
  }

  TermBlocks<double> Blocks(Base base) {
    return {&sequence_, base, &workspace_};
  }

  const FloatEnvironment environment_{Denormals::kFlush};
  const double one_ = 1.0;
  const double zero_ = 0.0;
  Workspace workspace_;
  Model<double> model_;
  Sequence<double> sequence_{model_, false, false, &workspace_};
};

// Tests that a cotangent that is flushed to zero when a far larger one arrives
// is recorded as lost. Cotangents arrive in any order.
TEST_F(TermBlocksTest, LossesToALargerExponentAreCounted) {
  for (const bool whole : {false, true}) {
    for (const int64_t exponent : {800, 1500, 4000}) {
      TermBlocks<double> blocks = Blocks(Base::kDensity);
      StatusCode status = kOk;
      ASSERT_TRUE(blocks.Reserve(0, &status));
      const auto get = [&](int64_t e, double* scale) {
        return whole ? blocks.Whole(0, e, scale) : blocks.Sums(0, e, scale);
      };
      double scale;
      get(0, &scale)[3] = 0x1p-200;
      EXPECT_FALSE(blocks.HasLosses(0));
      get(0, &scale);
      EXPECT_FALSE(blocks.HasLosses(0));
      double* sums = get(exponent, &scale);
      EXPECT_EQ(sums[3], std::ldexp(1.0, static_cast<int>(-200 - exponent)));
      EXPECT_EQ(blocks.HasLosses(0), exponent > 800) << exponent;
    }
  }
}

// Tests sums of a million cotangents: each term a_k contributes to all later
// coefficients of the distribution function.
TEST_F(TermBlocksTest, LongSumsKeepTheirDigits) {
  constexpr int64_t kNumBlocks = 1 << 16;
  TermBlocks<double> blocks = Blocks(Base::kCdf);
  StatusCode status = kOk;
  ASSERT_TRUE(blocks.Reserve(kNumBlocks - 1, &status));
  for (int64_t b = 0; b < kNumBlocks; ++b) {
    double scale;
    double* bars = blocks.Whole(b, 0, &scale);
    for (int j = 0; j < kBlock; ++j) bars[j] = 0.1;
  }
  double a_bar[kBlock];
  double b_bar[kBlock];
  int64_t exponent = 0;
  for (int64_t b = kNumBlocks - 1; b >= 0; --b) {
    exponent = blocks.Get(b, a_bar, b_bar);
  }
  // The exact result is the sum of all cotangents but the first one. Each is
  // the double nearest to 0.1, which exceeds 0.1 by 5.55e-18.
  const double count = kNumBlocks * kBlock - 1.0;
  const double truth = count / 10.0 + count * 5.551115123125783e-18;
  EXPECT_NEAR(ScaleBy(a_bar[0], exponent) / truth, 1.0, 1e-15);
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
