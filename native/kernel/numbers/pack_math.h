// Exponentials and logarithms of eight doubles at once, with errors of about
// one unit in the last place. A lane's result depends only on its own number.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_PACK_MATH_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_PACK_MATH_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

inline Pack<8> Quotient(const Pack<8>& x, const Pack<8>& y) {
  Pack<8> result;
  for (int l = 0; l < Pack<8>::kParts; ++l) {
    result.parts[l] = x.parts[l] / y.parts[l];
  }
  return result;
}

// Returns x * 2^exponent, also if 2^exponent itself is out of range.
inline Pack<8> ScaleBy(Pack<8> x, int64_t exponent) {
  int64_t rest = std::clamp<int64_t>(exponent, -3000, 3000);
  for (; rest > 1000; rest -= 1000) x = PowerOfTwo(1000) * x;
  for (; rest < -1000; rest += 1000) x = PowerOfTwo(-1000) * x;
  return PowerOfTwo(rest) * x;
}

// ln 2 as a sum of two parts. Multiples of the first part by integers up to
// 2^20 are exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

// Returns log(x 2^exponent) for positive normal numbers x and integer
// exponents, as in FreeBSD's e_log.c: x = 2^k (1 + f) with sqrt(1/2) <= 1 + f <
// sqrt(2), and log(1 + f) = f - s (f - R(s^2)) with s = f / (2 + f) and a
// polynomial R.
inline Pack<8> LogOf(const Pack<8>& x, const Pack<8>& exponent) {
  using Vector = Pack<8>::Vector;
  using Bits = Pack<8>::Bits;
  constexpr int64_t kOne = int64_t{0x3ff} << 52;
  constexpr int64_t kRootHalf = 0x3fe6a09e667f3bcd;
  constexpr int64_t kExponentBits = int64_t{0x7ff} << 52;
  constexpr int64_t kTwoTo52 = int64_t{0x433} << 52;
  Pack<8> result;
  for (int l = 0; l < Pack<8>::kParts; ++l) {
    const Bits bits = reinterpret_cast<Bits>(x.parts[l]);
    const Bits shifted = bits + (kOne - kRootHalf);
    // The lowest bits of the double 2^52 + k + 1023 are those of the integer k
    // + 1023.
    const Vector biased =
        reinterpret_cast<Vector>(((shifted >> 52) & 0x7ff) | kTwoTo52);
    const Vector k = biased - (0x1p52 + 1023.0 - exponent.parts[l]);
    const Vector f =
        reinterpret_cast<Vector>(bits - ((shifted & kExponentBits) - kOne)) -
        1.0;
    const Vector s = f / (2.0 + f);
    const Vector z = s * s;
    Vector r = z * 1.479819860511658591e-01 + 1.531383769920937332e-01;
    r = r * z + 1.818357216161805012e-01;
    r = r * z + 2.222219843214978396e-01;
    r = r * z + 2.857142874366239149e-01;
    r = r * z + 3.999999999940941908e-01;
    r = r * z + 6.666666666666735130e-01;
    r = r * z;
    const Vector half_square = 0.5 * f * f;
    result.parts[l] =
        k * kLn2High -
        ((half_square - (s * (half_square + r) + k * kLn2Low)) - f);
  }
  return result;
}
inline Pack<8> LogOf(const Pack<8>& x, int64_t exponent) {
  return LogOf(x, Pack<8>(static_cast<double>(exponent)));
}

// Returns exp(-x) for 0 <= x <= 700, by a Taylor series about the nearest
// multiple of ln 2.
inline Pack<8> ExpOfMinus(const Pack<8>& x) {
  using Vector = Pack<8>::Vector;
  using Bits = Pack<8>::Bits;
  constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
  constexpr double kToInteger = 0x1.8p52;  // adding it rounds to an integer
  constexpr double kInverseFactorials[] = {1.0,
                                           1.0,
                                           1.0 / 2,
                                           1.0 / 6,
                                           1.0 / 24,
                                           1.0 / 120,
                                           1.0 / 720,
                                           1.0 / 5040,
                                           1.0 / 40320,
                                           1.0 / 362880,
                                           1.0 / 3628800,
                                           1.0 / 39916800,
                                           1.0 / 479001600,
                                           1.0 / 6227020800.0};
  constexpr int kDegree = 13;
  Pack<8> result;
  for (int l = 0; l < Pack<8>::kParts; ++l) {
    const Vector shifted = kToInteger - kInverseLn2 * x.parts[l];
    const Vector k = shifted - kToInteger;
    const Vector r = (-x.parts[l] - k * kLn2High) - k * kLn2Low;
    Vector sum =
        r * kInverseFactorials[kDegree] + kInverseFactorials[kDegree - 1];
    for (int j = kDegree - 2; j >= 0; --j) {
      sum = sum * r + kInverseFactorials[j];
    }
    // The lowest bits of `shifted` are those of the integer k.
    result.parts[l] = reinterpret_cast<Vector>(
        reinterpret_cast<Bits>(sum) + (reinterpret_cast<Bits>(shifted) << 52));
  }
  return result;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_PACK_MATH_H_
