// Scaled numbers mantissa * 2^exponent, which have a separate exponent. They
// represent densities such as 1e-800 and Poisson weights such as 1e-5000.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_SCALED_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_SCALED_H_

#include <cmath>
#include <cstdint>
#include <cstring>

#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns 2^e for -1022 <= e <= 1023, zero for smaller e, and infinity for
// larger e.
inline double PowerOfTwo(int64_t e) {
  if (e < -1022) return 0.0;
  const uint64_t bits = static_cast<uint64_t>(e > 1023 ? 2047 : e + 1023) << 52;
  double result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

// Returns floor(log2 |x|) of a normal number x, and -1023 for zero.
inline int64_t ExponentOf(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return static_cast<int64_t>((bits >> 52) & 2047) - 1023;
}

inline bool IsSubnormal(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits &= ~(uint64_t{1} << 63);
  return bits != 0 && bits < (uint64_t{1} << 52);
}

// Returns whether x is nonzero. Compares bits, because sweeps treat subnormal
// numbers as zero.
inline bool HasBits(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits << 1 != 0;
}

// Returns x * 2^1074 for a subnormal number x, an integer.
inline double SubnormalUnits(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits &= ~(uint64_t{1} << 63);
  return std::copysign(static_cast<double>(bits), x);
}

// Returns x * 2^e for e > 1000. It is rarely called, and therefore not inlined.
[[gnu::noinline]] inline double ScaleUp(double x, int64_t e) {
  x *= PowerOfTwo(1000);
  if (e > 2000) {
    x *= PowerOfTwo(1000);
    e = e < 3000 ? e - 1000 : 2000;
  }
  return x * PowerOfTwo(e - 1000);
}

// Returns x * 2^e for e < -1000. For every such e, raises the underflow flag if
// the result is flushed to zero.
[[gnu::noinline]] inline double ScaleDown(double x, int64_t e) {
  x *= PowerOfTwo(-1000);
  if (e < -2000) {
    x *= PowerOfTwo(-1000);
    e = e > -3000 ? e + 1000 : -2000;
  }
  return x * PowerOfTwo(e + 1000);
}

// Returns x * 2^e, also if 2^e itself is out of range; zero stays zero.
inline double ScaleBy(double x, int64_t e) {
  if (e == 0) return x;
  if (e > 1000) return ScaleUp(x, e);
  if (e < -1000) return ScaleDown(x, e);
  return x * PowerOfTwo(e);
}
template <class T>
inline Dual<T> ScaleBy(const Dual<T>& x, int64_t e) {
  return {ScaleBy(x.value, e), ScaleBy(x.tangent, e)};
}

template <class T>
inline void ScaleAllBy(T* x, int64_t count, int64_t e) {
  if (e == 0) return;
  if (e > 1000 || e < -1000) {
    for (int64_t i = 0; i < count; ++i) x[i] = ScaleBy(x[i], e);
    return;
  }
  const double factor = PowerOfTwo(e);
  for (int64_t i = 0; i < count; ++i) x[i] = factor * x[i];
}

template <class T>
struct Scaled {
  T mantissa{};
  int64_t exponent = 0;
};

// Returns whether a <= 2^log2_fraction * b, for nonnegative a and b.
inline bool IsAtMost(const Scaled<double>& a, int64_t log2_fraction,
                     const Scaled<double>& b) {
  if (a.mantissa == 0.0) return true;
  if (b.mantissa == 0.0) return false;
  // Exponents are compared first, so that nothing underflows.
  const int64_t a_log2 = a.exponent + ExponentOf(a.mantissa);
  const int64_t b_log2 = b.exponent + ExponentOf(b.mantissa) + log2_fraction;
  if (a_log2 != b_log2) return a_log2 < b_log2;
  return ScaleBy(a.mantissa, -ExponentOf(a.mantissa)) <=
         ScaleBy(b.mantissa, -ExponentOf(b.mantissa));
}

// Returns the largest absolute value of the components of x, times 2^exponent.
template <class T>
inline Scaled<double> SizeOf(const T& x, int64_t exponent) {
  if constexpr (HasOwnExponent<T>::kValue) {
    const Scaled<double> value = SizeOf(x.value, exponent);
    const Scaled<double> tangent = SizeOf(x.tangent, exponent);
    return IsAtMost(value, 0, tangent) ? tangent : value;
  } else {
    return {MaxAbs(x), exponent};
  }
}

// Returns the same number with a mantissa whose absolute value is in [1, 2).
template <class T>
inline Scaled<T> Normalized(const Scaled<T>& x) {
  const Scaled<double> size = SizeOf(x.mantissa, 0);
  if (!(size.mantissa > 0.0 && size.mantissa < HUGE_VAL)) return x;
  const int64_t e = size.exponent + ExponentOf(size.mantissa);
  return {ScaleBy(x.mantissa, -e), x.exponent + e};
}

// Numbers of about 2^e with |e| < kNear are not rescaled, so that smaller
// numbers in the same array do not underflow early.
constexpr int64_t kNear = 500;

// Returns 1 / x. The result is in range whenever x is.
template <class T>
inline Scaled<T> Reciprocal(const Scaled<T>& x) {
  int64_t e = ExponentOf(Primal(x.mantissa));
  if (e > -kNear && e < kNear) e = 0;
  return {Reciprocal(ScaleBy(x.mantissa, -e)), -x.exponent - e};
}

template <class T>
inline void Add(Scaled<T>* sum, const Scaled<T>& term) {
  if (IsZero(term.mantissa)) return;
  if (IsZero(sum->mantissa)) {
    *sum = Normalized(term);
    return;
  }
  const Scaled<T> b = Normalized(term);
  const int64_t shift = b.exponent - sum->exponent;
  if (shift <= 0) {
    sum->mantissa += ScaleBy(b.mantissa, shift);
  } else {
    sum->mantissa = ScaleBy(sum->mantissa, -shift) + b.mantissa;
    sum->exponent = b.exponent;
  }
  *sum = Normalized(*sum);
}

// Adds the array x * 2^exponent to the array sum * 2^*sum_exponent. The new
// *sum_exponent is the larger of the two exponents, or zero if the larger one
// is near zero.
template <class T>
inline void AddScaled(const T* x, int64_t exponent, int64_t count, T* sum,
                      int64_t* sum_exponent) {
  int64_t target = exponent > *sum_exponent ? exponent : *sum_exponent;
  if (target > -kNear && target < kNear) target = 0;
  ScaleAllBy(sum, count, *sum_exponent - target);
  for (int64_t i = 0; i < count; ++i) {
    sum[i] += ScaleBy(x[i], exponent - target);
  }
  *sum_exponent = target;
}
// The exponent of a sum that has no terms yet.
constexpr int64_t kExponentOfZero = INT64_MIN / 4;

template <class T>
inline T ToPlain(const Scaled<T>& x) {
  return ScaleBy(x.mantissa, x.exponent);
}

// Returns y x as a plain number, even if x itself is out of range. First brings
// the mantissa of x into [1, 2), or into [1/2, 1) if the exponent of x is
// negative. So the product of y and this mantissa does not underflow before it
// is scaled up, and does not overflow before it is scaled down.
template <class T>
inline T PlainProduct(const T& y, const Scaled<T>& x) {
  const Scaled<T> a = Normalized(x);
  const int64_t shift = a.exponent < 0 ? 1 : 0;
  return ScaleBy(y * ScaleBy(a.mantissa, -shift), a.exponent + shift);
}

constexpr double kLn2 = 0.693147180559945309417232121458;

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_SCALED_H_
