#include "native/kernel/numbers/dual.h"

#include <gtest/gtest.h>

#include <cmath>

namespace phasic {
namespace PHASIC_ISA {
namespace {

using Order1 = Dual<double>;
using Order2 = Dual<Order1>;
using Order3 = Dual<Order2>;

Order3 Variable(double x) {
  const double one = 1.0;
  const double* tangents[] = {&one, &one, &one};
  return Seed<Order3>::Make(x, tangents, 0);
}

TEST(DualTest, ThirdDerivativeOfAPolynomial) {
  const Order3 x = Variable(2.0);
  const Order3 f = x * x * x * x;
  EXPECT_EQ(Primal(f), 16.0);
  EXPECT_EQ(Top(f), 24.0 * 2.0);
}

TEST(DualTest, ThirdDerivativeOfReciprocalAndLog) {
  const double x = 1.5;
  EXPECT_NEAR(Top(Reciprocal(Variable(x))), -6.0 / std::pow(x, 4), 1e-14);
  EXPECT_NEAR(Top(Log(Variable(x))), 2.0 / std::pow(x, 3), 1e-14);
}

TEST(DualTest, MixedPartialsUseTheirOwnDirections) {
  // For f = x^2 y the mixed derivative is d2f/dx dy = 2 x.
  const double dx[] = {1.0, 0.0};
  const double dy[] = {0.0, 1.0};
  const double* tangents[] = {dx, dy};
  const Order2 x = Seed<Order2>::Make(3.0, tangents, 0);
  const Order2 y = Seed<Order2>::Make(5.0, tangents, 1);
  EXPECT_EQ(Top(x * x * y), 6.0);
}

TEST(DualTest, SizesSeeEveryComponent) {
  Order2 x(0.0);
  EXPECT_TRUE(IsZero(x));
  x.tangent.tangent = -3.0;
  EXPECT_FALSE(IsZero(x));
  EXPECT_EQ(MaxAbs(x), 3.0);
  EXPECT_EQ(Abs(x).tangent.tangent, 3.0);
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
