// Compares extrapolated sequences with sequences that are computed by steps.
// Tests which blocks are extrapolated, how accurate they are, and which chains
// must not be extrapolated.

#include "native/kernel/uniformization/tail_closure.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "native/kernel/model/model.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

// A model with a dense matrix and given exit rates.
struct Chain {
  Chain(std::vector<double> start, std::vector<double> jumps,
        std::vector<double> leaving)
      : initial(std::move(start)),
        rates(std::move(jumps)),
        exits(std::move(leaving)) {
    input.num_phases = static_cast<int64_t>(initial.size());
    input.has_exit_rates = true;
    input.epsilon = 2.2e-16;
    input.initial_probs.value = initial.data();
    input.subgenerator.value = rates.data();
    input.exit_rates.value = exits.data();
  }

  std::vector<double> initial;
  std::vector<double> rates;
  std::vector<double> exits;
  SweepInput input = {};
};

// Returns a chain of phases in series with these rates.
Chain Hypoexponential(const std::vector<double>& rates) {
  const size_t p = rates.size();
  std::vector<double> initial(p);
  std::vector<double> jumps(p * p);
  std::vector<double> exits(p);
  initial[0] = 1.0;
  for (size_t i = 0; i + 1 < p; ++i) jumps[i * p + i + 1] = rates[i];
  exits[p - 1] = rates[p - 1];
  return Chain(initial, jumps, exits);
}

double DifferenceOfLogs(const double* x, int64_t x_exponent, const double* y,
                        int64_t y_exponent) {
  double largest = 0.0;
  for (int j = 0; j < kBlock; ++j) {
    if (x[j] == y[j] && x_exponent == y_exponent) continue;
    const double difference =
        std::fabs(std::log(x[j] / y[j]) +
                  static_cast<double>(x_exponent - y_exponent) * kLn2);
    if (!(difference < HUGE_VAL)) return HUGE_VAL;
    largest = std::max(largest, difference);
  }
  return largest;
}

// Returns how many of the first `num_blocks` blocks were computed by steps.
// Checks that all terms are near those of a sequence without extrapolation.
int64_t NumStepped(const Chain& chain, int64_t num_blocks, double tolerance) {
  const FloatEnvironment environment(Denormals::kFlush);
  Workspace workspace(size_t{1} << 28);
  Model<double> model;
  EXPECT_EQ(ModelBuilder<double>(chain.input, &workspace, &model).Build(), kOk);
  Sequence<double> closed(model, true, false, &workspace);
  Sequence<double> stepped(model, true, false, &workspace);
  closed.AllowClosure();
  EXPECT_EQ(closed.Start(), kOk);
  EXPECT_EQ(stepped.Start(), kOk);
  StatusCode status = kOk;
  EXPECT_NE(closed.Get(num_blocks - 1, &status), nullptr);
  EXPECT_NE(stepped.Get(num_blocks - 1, &status), nullptr);
  EXPECT_EQ(stepped.num_stepped(), num_blocks);
  double largest = 0.0;
  for (int64_t b = 0; b < num_blocks; ++b) {
    const Block<double>& x = *closed.Find(b);
    const Block<double>& y = *stepped.Find(b);
    largest =
        std::max(largest, DifferenceOfLogs(x.a, x.exponent, y.a, y.exponent));
    largest =
        std::max(largest, DifferenceOfLogs(x.b, x.exponent, y.b, y.exponent));
  }
  EXPECT_LE(largest, tolerance);
  return closed.num_stepped();
}

TEST(TailClosureTest, FewStepsOfALongSequenceAreMade) {
  std::vector<double> rates;  // Kingman's coalescent
  for (int n = 10; n > 1; --n) rates.push_back(n * (n - 1) / 2);
  // At the last block the density is about exp(-460).
  EXPECT_LE(NumStepped(Hypoexponential(rates), 1930, 2e-13), 112);
  // All phases approach the same decay rate.
  const Chain ring({1, 0, 0}, {0, .5, 0, 0, 0, .25, .5, 0, 0}, {.25, .25, .5});
  EXPECT_LE(NumStepped(ring, 2500, 2e-13), 112);
}

TEST(TailClosureTest, WhatHasNotSettledIsStepped) {
  constexpr int64_t kBlocks = 2000;
  const double near = std::ldexp(1.0, -12);
  const Chain chains[] = {
      Hypoexponential({1.0, near, near * (1.0 + 1e-6)}),
      Hypoexponential({1.0, near, near}),
      // The slower phase dominates only from the 94,000th step on.
      Chain({0.5, 0.5, 1e-20}, std::vector<double>(9),
            {1.0, std::ldexp(1.0, -10), std::ldexp(1.0, -11)}),
      // The second pair of states is reached so rarely from the first one that
      // hardly any mass has arrived there yet.
      Chain({1, 0, 0, 0},
            {0, .5, 0, 0, .5, 0, 1e-12, 0, 0, 0, 0, .5, 0, 0, .5, 0},
            {near, 0, 0, near}),
  };
  for (const Chain& chain : chains) {
    EXPECT_EQ(NumStepped(chain, kBlocks, 0.0), kBlocks);
  }
}

TEST(TailClosureTest, APeriodIsRepeated) {
  // The chain has period two, and its exit rates depend on the phase.
  const Chain turns({.25, .75}, {0, 1 - 0x1p-10, 1 - 0x1p-12, 0},
                    {0x1p-10, 0x1p-12});
  EXPECT_LE(NumStepped(turns, 2500, 2e-13), 176);
}

TEST(TailClosureTest, TriesLeaveNoTrace) {
  const FloatEnvironment environment(Denormals::kFlush);
  Workspace workspace(size_t{1} << 28);
  Chain chain({1, 0, 0}, {0, .5, 0, 0, 0, .25, .5, 0, 0}, {.25, .25, .5});
  Model<double> model;
  ASSERT_EQ(ModelBuilder<double>(chain.input, &workspace, &model).Build(), kOk);
  Sequence<double> tried(model, true, false, &workspace);
  Sequence<double> plain(model, true, false, &workspace);
  constexpr int64_t kLast = 6000;
  for (Sequence<double>* sequence : {&tried, &plain}) {
    sequence->AllowClosure();
    ASSERT_EQ(sequence->Start(), kOk);
  }
  // Finds the least number of steps that suffices. If fewer steps are allowed,
  // Follows must return false, also after the blocks have been computed.
  int64_t least = 0;
  while (!tried.Follows(kLast, least)) ++least;
  EXPECT_GE(least, 80);
  EXPECT_LE(least, 200);
  EXPECT_FALSE(tried.Follows(kLast, least - 1));
  EXPECT_TRUE(tried.Follows(kLast, least));
  StatusCode status = kOk;
  ASSERT_NE(plain.Get(kLast, &status), nullptr);
  EXPECT_EQ(plain.num_stepped(), least);
  for (int64_t b = 0; b <= kLast; ++b) {
    const Block<double>& x = *tried.Find(b);
    const Block<double>& y = *plain.Find(b);
    ASSERT_TRUE(std::equal(x.a, x.a + kBlock, y.a)) << b;
    ASSERT_TRUE(std::equal(x.b, x.b + kBlock, y.b)) << b;
    ASSERT_EQ(x.exponent, y.exponent);
    ASSERT_EQ(x.underflow_exponent, y.underflow_exponent);
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
