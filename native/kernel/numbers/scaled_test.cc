#include "native/kernel/numbers/scaled.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "native/kernel/numbers/extended_double.h"
#include "native/kernel/numbers/scaled_sum.h"
#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

TEST(ScaledTest, PowersOfTwoOverTheWholeRange) {
  EXPECT_EQ(PowerOfTwo(0), 1.0);
  EXPECT_EQ(PowerOfTwo(-1022), std::ldexp(1.0, -1022));
  EXPECT_EQ(PowerOfTwo(1023), std::ldexp(1.0, 1023));
  EXPECT_EQ(PowerOfTwo(-1023), 0.0);
  EXPECT_EQ(PowerOfTwo(1024), HUGE_VAL);
}

TEST(ScaledTest, ExponentIsTheFloorOfTheLogarithm) {
  EXPECT_EQ(ExponentOf(1.0), 0);
  EXPECT_EQ(ExponentOf(0.75), -1);
  EXPECT_EQ(ExponentOf(-8.5), 3);
}

TEST(ScaledTest, ScalesBeyondTheRangeOfOnePower) {
  EXPECT_EQ(ScaleBy(std::ldexp(1.0, -1000), 1900), std::ldexp(1.0, 900));
  EXPECT_EQ(ScaleBy(std::ldexp(1.0, 1000), -1900), std::ldexp(1.0, -900));
  EXPECT_EQ(ScaleBy(1.0, -5000), 0.0);
  EXPECT_EQ(ScaleBy(std::ldexp(1.0, 1000), -2020), std::ldexp(1.0, -1020));
  EXPECT_EQ(ScaleBy(std::ldexp(1.0, -1022), 2040), std::ldexp(1.0, 1018));
  EXPECT_EQ(ScaleBy(1.0, 5000), HUGE_VAL);
  EXPECT_EQ(ScaleBy(0.0, 5000), 0.0);
}

// Tests that the underflow flag is raised if a result is flushed to zero. The
// error bounds for underflow rely on this flag.
TEST(ScaledTest, WhatIsFlushedToZeroIsSeen) {
  const FloatEnvironment environment(Denormals::kFlush);
  for (const int64_t e : {-1100, -2100, -2600, -3500, -5000, -100000}) {
    FloatEnvironment::ClearUnderflow();
    volatile double result = ScaleBy(0.0, e);
    EXPECT_FALSE(FloatEnvironment::Underflowed()) << e;
    result = ScaleBy(1.0, e);
    EXPECT_EQ(FloatEnvironment::Underflowed(), result == 0.0) << e;
    EXPECT_EQ(result, std::ldexp(1.0, static_cast<int>(e))) << e;
  }
}

TEST(ScaledTest, SumsKeepTheLargerExponent) {
  Scaled<double> sum;
  Add(&sum, Scaled<double>{3.0, -4000});
  Add(&sum, Scaled<double>{5.0, -4000});
  EXPECT_EQ(sum.mantissa * std::ldexp(1.0, sum.exponent + 4000), 8.0);
  Add(&sum, Scaled<double>{1.0, 10});
  EXPECT_EQ(ToPlain(sum), 1024.0);
  Add(&sum, Scaled<double>{1.0, -4000});
  EXPECT_EQ(ToPlain(sum), 1024.0);
}

TEST(ScaledTest, ComparesAcrossExponents) {
  EXPECT_TRUE(IsAtMost({1.0, -3000}, -60, {1.0, -2940}));
  EXPECT_FALSE(IsAtMost({1.5, -3000}, -60, {1.0, -2940}));
  EXPECT_TRUE(IsAtMost({0.0, 0}, -60, {0.0, 0}));
  EXPECT_FALSE(IsAtMost({1.0, -9000}, 0, {0.0, 0}));
}

// Returns the sum of 2^e and two million terms of 2^(e - 60), divided by 2^e.
template <class T>
double RatioOfManySmallTerms(int64_t e) {
  ScaledSum<T> sum;
  sum.Add({T(1.0), e});
  for (int i = 0; i < 1 << 21; ++i) sum.Add({T(0.5), e - 59});
  const Scaled<T> result = sum.Result();
  return Top(ToPlain(Scaled<T>{result.mantissa, result.exponent - e}));
}

TEST(ScaledSumTest, CountsTermsBelowItsLastDigit) {
  constexpr double kExpected = 1.0 + 0x1p-39;
  EXPECT_EQ(RatioOfManySmallTerms<double>(0), kExpected);
  EXPECT_EQ(RatioOfManySmallTerms<double>(-5000), kExpected);
  EXPECT_EQ(RatioOfManySmallTerms<ExtendedDouble>(-5000), kExpected);
}

TEST(ScaledSumTest, TermsThatGrow) {
  ScaledSum<double> sum;
  double expected = 0.0;
  for (int64_t e = -3000; e <= 0; e += 3) {
    sum.Add({1.5, e});
    expected = 1.5 + 0.125 * expected;
  }
  EXPECT_DOUBLE_EQ(ToPlain(sum.Result()), expected);
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
