#include "native/kernel/numbers/extended_double.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>

#include "native/kernel/simd/float_environment.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

// Returns 2^e for any integer e.
ExtendedDouble Power(int64_t e) { return ScaleBy(ExtendedDouble(1.0), e); }

TEST(ExtendedDoubleTest, DoublesComeBackAsTheyWere) {
  for (double x : {0.0, 1.0, -3.5, 1e-300, -1e300, 0x1p-1022, 0x1.8p1023}) {
    EXPECT_EQ(Primal(ExtendedDouble(x)), x);
  }
  EXPECT_EQ(Primal(ExtendedDouble(-HUGE_VAL)), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(Primal(ExtendedDouble(std::nan("")))));
}

TEST(ExtendedDoubleTest, TakesSubnormalNumbers) {
  const FloatEnvironment environment(Denormals::kFlush);
  for (const double count : {1.0, -3.0, 0x1.8p50}) {
    uint64_t bits = static_cast<uint64_t>(std::fabs(count));
    bits |= uint64_t{std::signbit(count)} << 63;
    double x;
    std::memcpy(&x, &bits, sizeof(x));
    EXPECT_TRUE(IsSubnormal(x) && HasBits(x));
    const ExtendedDouble number(x);
    EXPECT_FALSE(IsZero(number));
    EXPECT_EQ(Primal(ScaleBy(number, 1074)), count);
    EXPECT_EQ(Primal(number), 0.0);
  }
  EXPECT_TRUE(IsZero(ExtendedDouble(-0.0)));
}

TEST(ExtendedDoubleTest, ProductsLeaveTheRangeAndReturn) {
  ExtendedDouble x(1.0);
  for (int i = 0; i < 100; ++i) x = x * 1e-300;
  EXPECT_EQ(Primal(x), 0.0);
  EXPECT_FALSE(IsZero(x));
  for (int i = 0; i < 100; ++i) x = x * Reciprocal(ExtendedDouble(1e-300));
  EXPECT_NEAR(Primal(x), 1.0, 1e-13);
}

TEST(ExtendedDoubleTest, SumsOfAnyTwoSizes) {
  for (int64_t gap : {1, 52, 500, 520, 1100}) {
    for (int64_t e : {-5000, -256, -1, 0, 255, 4000}) {
      const ExtendedDouble sum = Power(e) + Power(e - gap);
      const double expected = 1.0 + std::ldexp(1.0, static_cast<int>(-gap));
      EXPECT_EQ(Primal(ScaleBy(sum, -e)), expected) << e << " " << gap;
      EXPECT_EQ(Primal(ScaleBy(sum - Power(e), -e)), expected - 1.0);
    }
  }
}

TEST(ExtendedDoubleTest, AddsProductsOfAnySize) {
  for (int64_t e : {-5000, -300, 0, 250, 4000}) {
    for (int64_t gap : {-1600, -700, -520, -1, 0, 30, 500, 520, 700, 1600}) {
      for (double factor : {-1.0, -0x1.8p+0, 0x1.4p+0}) {
        const ExtendedDouble a = factor * Power(e / 2);
        const ExtendedDouble b = Power(e - e / 2 + gap);
        const ExtendedDouble start = 0x1.cp+0 * Power(e);
        ExtendedDouble sum = start;
        AddProduct(a, b, &sum);
        const ExtendedDouble expected = start + a * b;
        EXPECT_EQ(sum.part, expected.part) << e << " " << gap;
        EXPECT_EQ(sum.power, expected.power) << e << " " << gap;
      }
    }
  }
}

TEST(ExtendedDoubleTest, ProductsThatAreNotFiniteAreAdded) {
  const ExtendedDouble empty{};
  const ExtendedDouble infinity(HUGE_VAL);
  const ExtendedDouble unknown(std::nan(""));
  for (int64_t e : {-9000, 0, 9000}) {
    ExtendedDouble sum = Power(e);
    AddProduct(empty, Power(e), &sum);
    EXPECT_EQ(Primal(ScaleBy(sum, -e)), 1.0);
    AddProduct(Power(-e), infinity, &sum);
    EXPECT_EQ(Primal(sum), HUGE_VAL);
    for (const ExtendedDouble& factor : {empty, Power(e), infinity}) {
      ExtendedDouble other = Power(e);
      AddProduct(factor, unknown, &other);
      EXPECT_TRUE(std::isnan(Primal(other)));
    }
    sum = Power(e);
    AddProduct(empty, infinity, &sum);
    EXPECT_TRUE(std::isnan(Primal(sum)));
  }
}

TEST(ExtendedDoubleTest, ZeroAddsNothingToTheSmallest) {
  const ExtendedDouble small = Power(-900000);
  const ExtendedDouble empty{};
  EXPECT_EQ(Primal(ScaleBy(empty + small, 900000)), 1.0);
  EXPECT_EQ(Primal(ScaleBy(small - ExtendedDouble(0.0), 900000)), 1.0);
  EXPECT_TRUE(IsZero(small - small));
  EXPECT_TRUE(IsZero(0.0 * small));
}

TEST(ExtendedDoubleTest, InfinityAndNaNStay) {
  const ExtendedDouble infinity(HUGE_VAL);
  EXPECT_EQ(Primal(Power(90000) + infinity), HUGE_VAL);
  EXPECT_FALSE(IsFinite(Power(90000) * std::nan("")));
  EXPECT_TRUE(std::isnan(Primal(infinity - infinity)));
  EXPECT_TRUE(std::isnan(Primal(infinity * 0.0)));
}

TEST(ExtendedDoubleTest, LogsAndSizes) {
  EXPECT_DOUBLE_EQ(Primal(Log(Power(-3000))), -3000 * std::log(2.0));
  const Scaled<double> size = SizeOf(-Power(-3000), 7);
  EXPECT_TRUE(IsAtMost(size, 0, {1.0, -2993}));
  EXPECT_TRUE(IsAtMost({1.0, -2993}, 0, size));
}

TEST(ExtendedDoubleTest, ComponentsOfDualsHaveExponentsOfTheirOwn) {
  const Dual<ExtendedDouble> x(Power(-3000), Power(2000));
  EXPECT_TRUE(IsAtMost({1.0, 2000}, 0, SizeOf(x, 0)));
  const Scaled<Dual<ExtendedDouble>> normalized =
      Normalized(Scaled<Dual<ExtendedDouble>>{x, 0});
  EXPECT_EQ(normalized.exponent, 2000);
  EXPECT_EQ(Primal(ScaleBy(normalized.mantissa.value, 5000)), 1.0);
  const Dual<ExtendedDouble> logarithm = Log(x);
  EXPECT_EQ(Primal(ScaleBy(logarithm.tangent, -5000)), 1.0);
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
