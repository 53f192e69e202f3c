#include "native/kernel/uniformization/poisson.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "native/kernel/uniformization/poisson_starts.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

// Returns log w_k(x), computed from the definition in extended precision.
long double ExactLogWeight(long double k, long double x) {
  return -x + k * std::log(x) - std::lgamma(k + 1.0L);
}

class LogPoissonWeightTest : public testing::TestWithParam<double> {};

TEST_P(LogPoissonWeightTest, MatchesTheDefinition) {
  const double k = GetParam();
  for (double offset = 0.0; offset < 16.0; offset += 0.37) {
    const double x = k + offset;
    const double exact = static_cast<double>(ExactLogWeight(k, x));
    // The second term is the rounding error of the reference value, which is a
    // sum of terms of size k log k that nearly cancel.
    const double tolerance = 1e-14 + 1e-18 * k * std::log(k + 2.0);
    const double actual = LogWeightAtMean(k) - PoissonDeviance(k, x);
    EXPECT_NEAR(actual, exact, tolerance) << k << " " << x;
  }
}

INSTANTIATE_TEST_SUITE_P(Indices, LogPoissonWeightTest,
                         testing::Values(16.0, 32.0, 48.0, 160.0, 1600.0,
                                         16000.0, 1.6e6));

// Compares all Poisson weights of blocks near x, in both directions, with the
// definition.
class PoissonWalkTest : public testing::TestWithParam<double> {};

TEST_P(PoissonWalkTest, BlocksGiveTheWeights) {
  const double x = GetParam();
  PoissonWalk walk(x);
  int64_t start;
  Scaled<double> weight = StartWeight(x, &start);
  int64_t first = start;
  for (; first > 0 && first > start - 20; --first) {
    weight = walk.Down(MakePoissonTable(first - 1), weight);
  }
  for (int64_t b = first; b < start + 20; ++b) {
    const PoissonTable table = MakePoissonTable(b);
    weight = walk.Up(
        b, table, weight,
        [&](int begin, int end, const Scaled<double>& scale,
            const double* powers) {
          for (int j = begin; j < end; ++j) {
            const double k = static_cast<double>(b * kBlock + j);
            const double log_weight =
                std::log(scale.mantissa * powers[j] * table.table[j]) +
                scale.exponent * kLn2;
            const double exact =
                k == 0.0 ? -x : static_cast<double>(ExactLogWeight(k, x));
            EXPECT_NEAR(log_weight, exact, 1e-13 + 4e-16 * std::fabs(exact))
                << "x = " << x << ", k = " << k;
          }
        });
  }
}

INSTANTIATE_TEST_SUITE_P(Means, PoissonWalkTest,
                         testing::Values(1e-20, 1e-5, 0.3, 1.0, 15.9, 16.0,
                                         100.0, 4321.0));

// Compares the weights with the definition; the last one is small, or that of
// the first block.
TEST(VisitDownTest, GivesTheWeightsUpToTheMode) {
  for (const double x : {260.5, 500.5, 777.0, 1024.0, 2048.0}) {
    std::vector<int64_t> blocks;
    std::vector<double> logs;
    VisitDown(x, {1.0, -700}, [&](int64_t b, const Scaled<double>& weight) {
      const double k = static_cast<double>(b * kBlock);
      const double exact =
          k == 0.0 ? -x : static_cast<double>(ExactLogWeight(k, x));
      blocks.push_back(b);
      logs.push_back(std::log(weight.mantissa) + weight.exponent * kLn2);
      EXPECT_NEAR(logs.back(), exact, 1e-13 + 4e-16 * std::fabs(exact))
          << x << ", " << b;
    });
    EXPECT_EQ(blocks.front(), static_cast<int64_t>(x) / kBlock);
    for (size_t i = 1; i < blocks.size(); ++i) {
      EXPECT_EQ(blocks[i], blocks[i - 1] - 1);
      EXPECT_GT(logs[i - 1], -700.0 * kLn2);
    }
    EXPECT_TRUE(blocks.back() == 0 || logs.back() <= -700.0 * kLn2) << x;
  }
}

TEST(PoissonWalkTest, BoundsCoverHeadAndTail) {
  const double x = 100.0;
  const PoissonWalk walk(x);
  for (const int block : {3, 5, 8, 10}) {
    const int k = block * kBlock;
    long double head = 0.0L;
    long double tail = 0.0L;
    for (int j = 0; j < 1000; ++j) {
      (j < k ? head : tail) += std::exp(ExactLogWeight(j, x));
    }
    const Scaled<double> weight = {
        static_cast<double>(std::exp(ExactLogWeight(k, x))), 0};
    if (k > x) {
      EXPECT_GE(ToPlain(walk.TailBound(block, weight)), tail * (1 - 1e-12L));
    } else {
      EXPECT_GE(ToPlain(walk.HeadBound(block, weight)), head * (1 - 1e-12L));
    }
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
