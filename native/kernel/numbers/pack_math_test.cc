// Compares exponentials and logarithms of packs with those of long doubles.

#include "native/kernel/numbers/pack_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace phasic {
namespace PHASIC_ISA {
namespace {

// Returns the error in units in the last place of the true value.
double Error(double actual, long double truth) {
  const int exponent = std::ilogb(static_cast<double>(truth));
  return static_cast<double>(
      std::ldexp(std::fabs(actual - truth), 52 - exponent));
}

TEST(PackMathTest, Logarithms) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> mantissas(1.0, 2.0);
  std::uniform_int_distribution<int> exponents(-500, 500);
  double largest = 0.0;
  for (int n = 0; n < 20000; ++n) {
    double x[8];
    for (double& number : x) {
      number = std::ldexp(mantissas(random), n % 2 ? exponents(random) : -1);
    }
    const int exponent = n % 4 < 2 ? 0 : exponents(random);
    const Pack<8> result = LogOf(Pack<8>::Load(x), exponent);
    for (int l = 0; l < 8; ++l) {
      const long double truth =
          std::log(std::ldexp(static_cast<long double>(x[l]), exponent));
      largest = std::max(largest, Error(result[l], truth));
    }
  }
  EXPECT_LT(largest, 1.5);
  EXPECT_EQ(LogOf(Pack<8>(1.0), 0)[3], 0.0);
}

TEST(PackMathTest, HugeExponents) {
  for (const int64_t exponent : {-900000, 900000}) {
    const double expected = static_cast<double>(
        static_cast<long double>(exponent) * std::log(2.0L));
    EXPECT_DOUBLE_EQ(LogOf(Pack<8>(1.0), exponent)[0], expected);
  }
}

TEST(PackMathTest, Exponentials) {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> numbers(0.0, 1.0);
  double largest = 0.0;
  for (int n = 0; n < 20000; ++n) {
    double x[8];
    for (double& number : x) {
      number = (n % 2 ? 4.0 : std::ldexp(4.0, -(n % 60))) * numbers(random);
    }
    const Pack<8> result = ExpOfMinus(Pack<8>::Load(x));
    for (int l = 0; l < 8; ++l) {
      const long double truth = std::exp(-static_cast<long double>(x[l]));
      largest = std::max(largest, Error(result[l], truth));
    }
  }
  EXPECT_LT(largest, 1.5);
  EXPECT_EQ(ExpOfMinus(Pack<8>(0.0))[7], 1.0);
}

TEST(PackMathTest, LanesDoNotDependOnEachOther) {
  const double x[8] = {1.5, 0x1p-400, 3.25, 0.75, 1.0, 0x1p300, 2.0, 0.1};
  const Pack<8> together = LogOf(Pack<8>::Load(x), -7);
  for (int l = 0; l < 8; ++l) {
    const Pack<8> alone = LogOf(Pack<8>(x[l]), -7);
    for (int k = 0; k < 8; ++k) EXPECT_EQ(alone[k], together[l]);
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
