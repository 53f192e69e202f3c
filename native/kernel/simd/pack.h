// A fixed number of doubles in as many registers as the instruction set needs,
// with elementwise operations.

#ifndef PHASIC_NATIVE_KERNEL_SIMD_PACK_H_
#define PHASIC_NATIVE_KERNEL_SIMD_PACK_H_

#include <cstring>

#include "native/kernel/simd/isa.h"

#if defined(__AVX__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace phasic {
namespace PHASIC_ISA {

#if defined(__AVX512F__)
constexpr int kRegisterWidth = 8;
#elif defined(__AVX__)
constexpr int kRegisterWidth = 4;
#else
constexpr int kRegisterWidth = 2;
#endif

template <int kWidth>
struct Register;
#define PHASIC_DEFINE_REGISTER(width)                                 \
  template <>                                                         \
  struct Register<width> {                                            \
    using Vector = double __attribute__((vector_size((width) * 8)));  \
    using Bits = long long __attribute__((vector_size((width) * 8))); \
  }
PHASIC_DEFINE_REGISTER(2);
PHASIC_DEFINE_REGISTER(4);
PHASIC_DEFINE_REGISTER(8);
#undef PHASIC_DEFINE_REGISTER

#if defined(__FMA__)
// Returns a b - c rounded once, whether or not the compiler contracts
// expressions.
inline __m128d FusedProductLess(__m128d a, __m128d b, __m128d c) {
  return _mm_fmsub_pd(a, b, c);
}
inline __m256d FusedProductLess(__m256d a, __m256d b, __m256d c) {
  return _mm256_fmsub_pd(a, b, c);
}
#if defined(__AVX512F__)
inline __m512d FusedProductLess(__m512d a, __m512d b, __m512d c) {
  return _mm512_fmsub_pd(a, b, c);
}
#endif
#elif defined(__aarch64__)
inline float64x2_t FusedProductLess(float64x2_t a, float64x2_t b,
                                    float64x2_t c) {
  return vfmaq_f64(vnegq_f64(c), a, b);
}
#endif

// Returns sum + a b, as a fused operation if there is an instruction for it.
// Compilers fuse some sums of this form and not others. Without this function
// the same sum could have different bits in two places.
template <class Vector>
inline Vector SumWithProduct(const Vector& sum, const Vector& a,
                             const Vector& b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Vector) == 64) return _mm512_fmadd_pd(a, b, sum);
#endif
#if defined(__AVX__) && defined(__FMA__)
  if constexpr (sizeof(Vector) == 32) return _mm256_fmadd_pd(a, b, sum);
  if constexpr (sizeof(Vector) == 16) return _mm_fmadd_pd(a, b, sum);
#elif defined(__aarch64__)
  if constexpr (sizeof(Vector) == 16) return vfmaq_f64(sum, a, b);
#endif
  return sum + a * b;
}

template <int kWidth>
struct Pack {
  static constexpr int kPart =
      kWidth < kRegisterWidth ? kWidth : kRegisterWidth;
  static constexpr int kParts = kWidth / kPart;
  using Vector = typename Register<kPart>::Vector;
  using Bits = typename Register<kPart>::Bits;
  Vector parts[kParts];

  Pack() = default;
  explicit Pack(double x) {
    for (Vector& part : parts) part = x - Vector{};
  }
  // Loads numbers from an address that need not be aligned for vectors.
  static Pack Load(const double* x) {
    Pack result;
    for (int l = 0; l < kParts; ++l) {
      std::memcpy(&result.parts[l], x + l * kPart, sizeof(Vector));
    }
    return result;
  }
  void Store(double* x) const {
    for (int l = 0; l < kParts; ++l) {
      std::memcpy(x + l * kPart, &parts[l], sizeof(Vector));
    }
  }
  void AddProduct(double a, const Pack& x) { AddProduct(Pack(a), x); }
  void AddProduct(const Pack& a, const Pack& x) {
    for (int l = 0; l < kParts; ++l) {
      parts[l] = SumWithProduct<Vector>(parts[l], a.parts[l], x.parts[l]);
    }
  }
  double Total() const {
    Vector sum = parts[0];
    for (int l = 1; l < kParts; ++l) sum += parts[l];
    double total[kPart];
    for (int l = 0; l < kPart; ++l) total[l] = sum[l];
    for (int half = kPart / 2; half > 0; half /= 2) {
      for (int l = 0; l < half; ++l) total[l] += total[l + half];
    }
    return total[0];
  }

  // Returns the maximum of `largest` and |x| in each lane.
  static Pack LargerSize(const Pack& largest, const Pack& x) {
    Pack result;
    for (int l = 0; l < kParts; ++l) {
      const Vector minus = -x.parts[l];
      const Vector size = x.parts[l] > minus ? x.parts[l] : minus;
      result.parts[l] = size > largest.parts[l] ? size : largest.parts[l];
    }
    return result;
  }

  double operator[](int l) const { return parts[l / kPart][l % kPart]; }

  // A boolean for each lane: either all bits of the lane are set, or none.
  struct Mask {
    Bits parts[kParts];

    bool operator[](int l) const { return parts[l / kPart][l % kPart] != 0; }
    void Clear(int l) { parts[l / kPart][l % kPart] = 0; }
    friend Mask operator&(const Mask& a, const Mask& b) {
      Mask result;
      for (int l = 0; l < kParts; ++l) {
        result.parts[l] = a.parts[l] & b.parts[l];
      }
      return result;
    }
    friend Mask operator~(const Mask& a) {
      Mask result;
      for (int l = 0; l < kParts; ++l) result.parts[l] = ~a.parts[l];
      return result;
    }
    friend bool Any(const Mask& a) {
      Bits any = a.parts[0];
      for (int l = 1; l < kParts; ++l) any |= a.parts[l];
      bool found = false;
      for (int l = 0; l < kPart; ++l) found |= any[l] != 0;
      return found;
    }
  };
  friend Mask operator<(const Pack& a, const Pack& b) {
    Mask result;
    for (int l = 0; l < kParts; ++l) result.parts[l] = a.parts[l] < b.parts[l];
    return result;
  }
  friend Mask operator<=(const Pack& a, const Pack& b) {
    Mask result;
    for (int l = 0; l < kParts; ++l) {
      result.parts[l] = a.parts[l] <= b.parts[l];
    }
    return result;
  }
  // Returns a in the lanes where the mask is set, and b in the others.
  friend Pack Select(const Mask& mask, const Pack& a, const Pack& b) {
    Pack result;
    for (int l = 0; l < kParts; ++l) {
      result.parts[l] = reinterpret_cast<Vector>(
          (reinterpret_cast<Bits>(a.parts[l]) & mask.parts[l]) |
          (reinterpret_cast<Bits>(b.parts[l]) & ~mask.parts[l]));
    }
    return result;
  }

  friend Pack operator+(const Pack& a, const Pack& b) {
    Pack result;
    for (int l = 0; l < kParts; ++l) result.parts[l] = a.parts[l] + b.parts[l];
    return result;
  }
  friend Pack operator-(const Pack& a, const Pack& b) {
    Pack result;
    for (int l = 0; l < kParts; ++l) result.parts[l] = a.parts[l] - b.parts[l];
    return result;
  }
  friend Pack operator*(const Pack& a, const Pack& b) {
    Pack result;
    for (int l = 0; l < kParts; ++l) result.parts[l] = a.parts[l] * b.parts[l];
    return result;
  }
  friend Pack operator*(double a, const Pack& b) { return Pack(a) * b; }

  // Returns a b + c.
  friend Pack MultiplyAdd(const Pack& a, const Pack& b, Pack c) {
    c.AddProduct(a, b);
    return c;
  }

  // Returns a b - c, without rounding of the product a b.
  friend Pack ProductLess(const Pack& a, const Pack& b, const Pack& c) {
    Pack result;
    for (int l = 0; l < kParts; ++l) {
#if defined(__FMA__) || defined(__aarch64__)
      result.parts[l] = FusedProductLess(a.parts[l], b.parts[l], c.parts[l]);
#else
      // The products of halves of the factors are exact: T. J. Dekker, A
      // floating-point technique for extending the available precision, Numer.
      // Math. 18, 1971.
      const Vector a_high = UpperHalf(a.parts[l]);
      const Vector b_high = UpperHalf(b.parts[l]);
      const Vector a_low = a.parts[l] - a_high;
      const Vector b_low = b.parts[l] - b_high;
      const Vector product = a.parts[l] * b.parts[l];
      const Vector rest =
          ((a_high * b_high - product) + a_high * b_low + a_low * b_high) +
          a_low * b_low;
      result.parts[l] = (product - c.parts[l]) + rest;
#endif
    }
    return result;
  }

 private:
  static Vector UpperHalf(const Vector& x) {
    const Vector scaled = 134217729.0 * x;  // 2^27 + 1
    return scaled - (scaled - x);
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SIMD_PACK_H_
