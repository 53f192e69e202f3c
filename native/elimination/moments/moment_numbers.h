// The number types in which moments are computed: doubles, or numbers of type
// Wide for models that leave the range of doubles.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_NUMBERS_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_NUMBERS_H_

#include <cmath>
#include <limits>

#include "native/elimination/solver/wide.h"

namespace phasic {

using PHASIC_ISA::IsFinite;
using PHASIC_ISA::IsZero;
using PHASIC_ISA::ToDouble;
using PHASIC_ISA::Wide;

// The number value * 2^exponent.
template <class T>
struct ScaledNumber {
  T value;
  int exponent;
};

inline double TimesPower(double x, int e) { return std::ldexp(x, e); }
inline Wide TimesPower(const Wide& x, int e) {
  return PHASIC_ISA::ScaleBy(x, e);
}
template <class T>
T ValueOf(const ScaledNumber<T>& x) {
  return TimesPower(x.value, x.exponent);
}

// Rounds a result to the caller's type F. Unlike a conversion, it does not
// raise the flags that show whether computations left the range of doubles.
template <class F>
F Rounded(double x) {
  return x;
}
template <>
inline float Rounded<float>(double x) {
  constexpr double kBeyond = 0x1.ffffffp127;  // rounds to infinity
  constexpr double kLeastNormal = 0x1p-126;
  // Adding this number rounds to a multiple of the least float, 2^-149.
  constexpr double kRounder = 0x1.8p-97;
  if (std::fabs(x) >= kBeyond) {
    return std::copysign(std::numeric_limits<float>::infinity(),
                         x > 0.0 ? 1.0F : -1.0F);
  }
  if (std::fabs(x) < kLeastNormal) x = (x + kRounder) - kRounder;
  return static_cast<float>(x);
}

inline double RootOf(double x) { return std::sqrt(x); }
inline Wide RootOf(const Wide& x) { return PHASIC_ISA::Sqrt(x); }
template <class T>
ScaledNumber<T> SquareRoot(const ScaledNumber<T>& x) {
  const int odd = x.exponent & 1;
  return {RootOf(TimesPower(x.value, odd)), (x.exponent - odd) / 2};
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_NUMBERS_H_
