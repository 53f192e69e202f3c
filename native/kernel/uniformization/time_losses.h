// Bounds the rounding errors of derivatives with respect to time. Their terms
// are differences of successive states, which are nearly equal. So t d/dt
// multiplies a relative error by up to x = q t, and t^r d^r/dt^r multiplies it
// by up to x^r.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TIME_LOSSES_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TIME_LOSSES_H_

#include <cmath>

#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/point.h"

namespace phasic {
namespace PHASIC_ISA {

// The largest accepted error of t^r d^r F / dt^r, relative to F. If the error
// is larger, the derivative is NaN.
constexpr double kMostTimeLoss = 1e-3;

// Returns whether the error of t^r d^r F / dt^r exceeds kMostTimeLoss, for r >
// 0.
inline bool IsTooLate(int r, double x) {
  return std::pow(2.0 * x, r) * 0x1p-51 > kMostTimeLoss;
}

// Returns the product a b, or zero if either factor is zero, even if the other
// one is NaN.
template <class T>
T SafeProduct(const T& a, const T& b) {
  return IsZero(a) || IsZero(b) ? T(0.0) : a * b;
}
template <class T>
Dual<T> SafeProduct(const Dual<T>& a, const Dual<T>& b) {
  return {SafeProduct(a.value, b.value),
          SafeProduct(a.value, b.tangent) + SafeProduct(a.tangent, b.value)};
}

// Returns x with all components that are not zero replaced by NaN.
template <class T>
T Refused(const T& x) {
  return IsZero(x) ? T(0.0) : T(kNaN);
}
template <class T>
Dual<T> Refused(const Dual<T>& x) {
  return {Refused(x.value), Refused(x.tangent)};
}
template <class T>
void RefuseTangents(T*) {}
template <class T>
void RefuseTangents(Dual<T>* x) {
  RefuseTangents(&x->value);
  x->tangent = Refused(x->tangent);
}

// Returns the largest n for which delta^n is not zero.
template <class T>
int HighestPower(const T& delta) {
  int n = 0;
  T power = delta;
  while (n < Depth<T>::kValue && !IsZero(power)) {
    ++n;
    power = power * delta;
  }
  return n;
}

// Returns whether the n-th derivative of this function (density, survival or
// cdf) with respect to x is too inaccurate. For a survival function or cdf,
// this is the (n - 1)-th derivative of a density.
inline bool LosesTooMuch(Base base, int n, double x) {
  const int r = base == Base::kDensity ? n : n - 1;
  return r > 0 && IsTooLate(r, x);
}

// If the time of a point has tangents, replaces those tangents of the point
// that are too inaccurate by NaN.
template <class T>
void RefuseLosses(Point<T>* point) {
  const int n = HighestPower(point->delta);
  if (n == 0) return;
  if (LosesTooMuch(point->base, n, point->x)) {
    RefuseTangents(&point->value.mantissa);
  }
  if (LosesTooMuch(point->base, n + 1, point->x)) RefuseTangents(&point->slope);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TIME_LOSSES_H_
