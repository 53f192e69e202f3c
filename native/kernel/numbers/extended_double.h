// Doubles of unbounded range: part * 2^(512 power), as in T. Fukushima,
// Numerical computation of spherical harmonics of arbitrary degree and order by
// extending exponent of floating point numbers, J. Geod. 86, 2012. With the
// large radix 2^512 powers rarely change, so that the terms of sums hardly ever
// need alignment.
//
// The sweeps are templates over the scalar. With extended doubles they are
// slower, but nothing underflows: states of 1e-1000 beside others of size one
// keep all their digits. Extended doubles are used if underflow of doubles
// would lose significant results.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_EXTENDED_DOUBLE_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_EXTENDED_DOUBLE_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/numbers/compensated_sum.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

struct ExtendedDouble {
  static constexpr int64_t kRadix = 512;  // log2 of the radix
  static constexpr int64_t kOfZero = -(int64_t{1} << 56);
  static constexpr int64_t kNotFinite = int64_t{1} << 56;

  // Either 2^-256 <= |part| < 2^256, or part is zero (with power kOfZero) or
  // not finite (with power kNotFinite). With these powers, sums of zeros,
  // infinities and NaN need no special cases.
  double part = 0.0;
  int64_t power = kOfZero;

  ExtendedDouble() = default;
  ExtendedDouble(double x) {  // NOLINT: scalars embed
    *this = Make(x, 0);
  }
  // Returns x * 2^(512 n) in normalized form.
  static ExtendedDouble Make(double x, int64_t n) {
    ExtendedDouble result;
    result.part = x;
    result.power = n;
    const double size = std::fabs(x);
    if (!(size >= 0x1p-256 && size < 0x1p256)) result.Normalize();
    return result;
  }

 private:
  void Normalize() {
    // Bits come first: to some compilers what equals zero has none.
    if (IsSubnormal(part)) {
      *this = Make(0x1p-50 * SubnormalUnits(part), power - 2);
      return;
    }
    if (part == 0.0) {
      power = kOfZero;
      return;
    }
    if (!(std::fabs(part) < HUGE_VAL)) {
      power = kNotFinite;
      return;
    }
    for (; std::fabs(part) < 0x1p-256; --power) part *= 0x1p512;
    for (; std::fabs(part) >= 0x1p256; ++power) part *= 0x1p-512;
  }
};

inline ExtendedDouble operator*(const ExtendedDouble& a,
                                const ExtendedDouble& b) {
  return ExtendedDouble::Make(a.part * b.part, a.power + b.power);
}
inline ExtendedDouble operator*(double a, const ExtendedDouble& b) {
  return ExtendedDouble(a) * b;
}
inline ExtendedDouble operator*(const ExtendedDouble& a, double b) {
  return ExtendedDouble(b) * a;
}

inline ExtendedDouble operator+(const ExtendedDouble& a,
                                const ExtendedDouble& b) {
  switch (a.power - b.power) {
    case 0:
      return ExtendedDouble::Make(a.part + b.part, a.power);
    case 1:
      return ExtendedDouble::Make(a.part + 0x1p-512 * b.part, a.power);
    case -1:
      return ExtendedDouble::Make(0x1p-512 * a.part + b.part, b.power);
    default:  // one number is negligible
      return a.power > b.power ? a : b;
  }
}
inline ExtendedDouble operator-(const ExtendedDouble& a) {
  ExtendedDouble result = a;
  result.part = -a.part;
  return result;
}
inline ExtendedDouble operator-(const ExtendedDouble& a,
                                const ExtendedDouble& b) {
  return a + (-b);
}
inline ExtendedDouble& operator+=(ExtendedDouble& a, const ExtendedDouble& b) {
  return a = a + b;
}
inline ExtendedDouble& operator-=(ExtendedDouble& a, const ExtendedDouble& b) {
  return a = a - b;
}

[[gnu::noinline]] inline void AddOtherProduct(const ExtendedDouble& a,
                                              const ExtendedDouble& b,
                                              ExtendedDouble* sum) {
  *sum += a * b;
}
// Computes *sum += a b. Sweeps spend most of their time here, so that the usual
// cases are inlined: the product has the power of the sum, or is negligible.
[[gnu::always_inline]] inline void AddProduct(const ExtendedDouble& a,
                                              const ExtendedDouble& b,
                                              ExtendedDouble* sum) {
  const double product = a.part * b.part;
  const int64_t power = a.power + b.power;
  if (power == sum->power) {
    const double total = sum->part + product;
    const double size = std::fabs(total);
    if (size >= 0x1p-256 && size < 0x1p256) {
      sum->part = total;
      return;
    }
  } else if (power < sum->power - 2 && product == product) {
    return;
  }
  AddOtherProduct(a, b, sum);
}

inline ExtendedDouble Reciprocal(const ExtendedDouble& x) {
  return ExtendedDouble::Make(1.0 / x.part, -x.power);
}
inline ExtendedDouble Log(const ExtendedDouble& x) {
  constexpr double kLogRadix =
      static_cast<double>(ExtendedDouble::kRadix) * kLn2;
  return std::log(x.part) + (IsFinite(x.part) && x.part != 0.0
                                 ? static_cast<double>(x.power) * kLogRadix
                                 : 0.0);
}

inline ExtendedDouble ScaleBy(const ExtendedDouble& x, int64_t e) {
  constexpr int64_t kRadix = ExtendedDouble::kRadix;
  if (e == 0 || x.part == 0.0) return x;
  const int64_t rest = (e % kRadix + kRadix) % kRadix;
  return ExtendedDouble::Make(x.part * PowerOfTwo(rest),
                              x.power + (e - rest) / kRadix);
}

inline bool IsZero(const ExtendedDouble& x) { return x.part == 0.0; }
inline bool PrimalIsZero(const ExtendedDouble& x) { return x.part == 0.0; }
inline void ClearPrimal(ExtendedDouble* x) { *x = ExtendedDouble(); }
inline bool IsFinite(const ExtendedDouble& x) { return IsFinite(x.part); }
inline ExtendedDouble Abs(const ExtendedDouble& x) {
  ExtendedDouble result = x;
  result.part = std::fabs(x.part);
  return result;
}

// Returns the nearest double, which is zero or infinite outside of the normal
// range.
inline double Primal(const ExtendedDouble& x) {
  if (x.part == 0.0 || !IsFinite(x.part)) return x.part;
  const int64_t rest = ExponentOf(x.part);
  // x.power * kRadix does not overflow: the number of steps is bounded, and
  // each step changes powers by a few.
  const int64_t e = x.power * ExtendedDouble::kRadix + rest;
  if (e < -1022) return 0.0;
  if (e > 1023) return x.part > 0.0 ? HUGE_VAL : -HUGE_VAL;
  return ScaleBy(x.part, -rest) * PowerOfTwo(e);
}
inline double Top(const ExtendedDouble& x) { return Primal(x); }
inline double MaxAbs(const ExtendedDouble& x) { return std::fabs(Primal(x)); }

// Sums of doubles would lose subnormal terms.
template <>
struct CompensatedSum<ExtendedDouble> {
  ExtendedDouble high;
  ExtendedDouble low;
  void Add(const ExtendedDouble& x) { AddCompensated(x, &high, &low); }
  ExtendedDouble Result() const { return high + low; }
  ExtendedDouble Low() const { return low - (Result() - high); }
};

inline Scaled<double> SizeOf(const ExtendedDouble& x, int64_t exponent) {
  if (x.part == 0.0 || !IsFinite(x.part)) return {std::fabs(x.part), exponent};
  return {std::fabs(x.part), exponent + x.power * ExtendedDouble::kRadix};
}
inline bool IsWithin(const ExtendedDouble& bound, double fraction,
                     const ExtendedDouble& scale) {
  return IsZero(scale) ||
         IsAtMost(SizeOf(bound, 0), 0, SizeOf(fraction * scale, 0));
}

template <>
struct HasOwnExponent<ExtendedDouble> {
  static constexpr bool kValue = true;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_EXTENDED_DOUBLE_H_
