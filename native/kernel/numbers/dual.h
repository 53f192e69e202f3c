// Nested dual numbers: Dual<T> is value + tangent * eps with eps^2 = 0. The
// kernel's sweeps are templates over the scalar, so a k-fold nested dual gives
// exact k-th directional derivatives.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_DUAL_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_DUAL_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
struct Dual {
  T value;
  T tangent;

  Dual() = default;
  Dual(double x) : value(x), tangent(0.0) {}  // NOLINT: scalars embed
  Dual(const T& v, const T& t) : value(v), tangent(t) {}
};

// Returns a b + c with a single rounding if the instruction set has a fused
// multiply-add. Compilers fuse some sums of this form and not others. So code
// that must produce the same bits in two places calls this function.
inline double MultiplyAdd(double a, double b, double c) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Returns a b + c d.
template <class T>
inline T SumOfProducts(const T& a, const T& b, const T& c, const T& d) {
  return a * b + c * d;
}
inline double SumOfProducts(double a, double b, double c, double d) {
  return MultiplyAdd(a, b, c * d);
}

template <class T>
struct Depth {
  static constexpr int kValue = 0;
};
template <class T>
struct Depth<Dual<T>> {
  static constexpr int kValue = 1 + Depth<T>::kValue;
};

inline double Primal(double x) { return x; }
template <class T>
inline double Primal(const Dual<T>& x) {
  return Primal(x.value);
}

// Whether T is an extended double or consists of them: see extended_double.h.
template <class T>
struct HasOwnExponent {
  static constexpr bool kValue = false;
};
template <class T>
struct HasOwnExponent<Dual<T>> : HasOwnExponent<T> {};

// Returns the coefficient of eps_1 ... eps_k in a k-fold nested dual number:
// the mixed derivative, taken once in each of the k directions. For a double,
// returns the number itself.
inline double Top(double x) { return x; }
template <class T>
inline double Top(const Dual<T>& x) {
  return Top(x.tangent);
}

inline double MaxAbs(double x) { return std::fabs(x); }
template <class T>
inline double MaxAbs(const Dual<T>& x) {
  const double a = MaxAbs(x.value);
  const double b = MaxAbs(x.tangent);
  return a > b ? a : b;
}

inline bool IsFinite(double x) { return std::fabs(x) < HUGE_VAL; }
template <class T>
inline bool IsFinite(const Dual<T>& x) {
  return IsFinite(x.value) && IsFinite(x.tangent);
}

inline bool IsZero(double x) { return x == 0.0; }
template <class T>
inline bool IsZero(const Dual<T>& x) {
  return IsZero(x.value) && IsZero(x.tangent);
}

// Returns whether the value without its tangents is zero.
inline bool PrimalIsZero(double x) { return x == 0.0; }
template <class T>
inline bool PrimalIsZero(const Dual<T>& x) {
  return PrimalIsZero(x.value);
}

// Makes the value without its tangents zero. (Subtracting Primal(x) would leave
// what the range of doubles does not show.)
inline void ClearPrimal(double* x) { *x = 0.0; }
template <class T>
inline void ClearPrimal(Dual<T>* x) {
  ClearPrimal(&x->value);
}

// Returns the absolute values of all components.
inline double Abs(double x) { return std::fabs(x); }
template <class T>
inline Dual<T> Abs(const Dual<T>& x) {
  return {Abs(x.value), Abs(x.tangent)};
}

// Returns whether every component of `bound` is at most `fraction` times the
// same component of `scale`. Components with scale zero are ignored.
inline bool IsWithin(double bound, double fraction, double scale) {
  return scale == 0.0 || bound <= fraction * scale;
}
template <class T>
inline bool IsWithin(const Dual<T>& bound, double fraction,
                     const Dual<T>& scale) {
  return IsWithin(bound.value, fraction, scale.value) &&
         IsWithin(bound.tangent, fraction, scale.tangent);
}

template <class T>
inline Dual<T> operator+(const Dual<T>& a, const Dual<T>& b) {
  return {a.value + b.value, a.tangent + b.tangent};
}
template <class T>
inline Dual<T> operator-(const Dual<T>& a, const Dual<T>& b) {
  return {a.value - b.value, a.tangent - b.tangent};
}
template <class T>
inline Dual<T> operator-(const Dual<T>& a) {
  return {-a.value, -a.tangent};
}
template <class T>
inline Dual<T> operator*(const Dual<T>& a, const Dual<T>& b) {
  return {a.value * b.value,
          SumOfProducts(a.value, b.tangent, a.tangent, b.value)};
}
template <class T>
inline Dual<T> operator*(double a, const Dual<T>& b) {
  return {a * b.value, a * b.tangent};
}
template <class T>
inline Dual<T> operator*(const Dual<T>& a, double b) {
  return b * a;
}
template <class T>
inline Dual<T>& operator+=(Dual<T>& a, const Dual<T>& b) {
  a.value += b.value;
  a.tangent += b.tangent;
  return a;
}
template <class T>
inline Dual<T>& operator-=(Dual<T>& a, const Dual<T>& b) {
  a.value -= b.value;
  a.tangent -= b.tangent;
  return a;
}

// Computes *sum += a b.
template <class A, class T>
[[gnu::always_inline]] inline void AddProduct(const A& a, const T& b, T* sum) {
  *sum += a * b;
}
[[gnu::always_inline]] inline void AddProduct(const Dual<double>& a,
                                              const Dual<double>& b,
                                              Dual<double>* sum) {
  sum->value = MultiplyAdd(a.value, b.value, sum->value);
  sum->tangent += SumOfProducts(a.value, b.tangent, a.tangent, b.value);
}
[[gnu::always_inline]] inline void AddProduct(double a, const Dual<double>& b,
                                              Dual<double>* sum) {
  sum->value = MultiplyAdd(a, b.value, sum->value);
  sum->tangent = MultiplyAdd(a, b.tangent, sum->tangent);
}

inline double Reciprocal(double x) { return 1.0 / x; }
template <class T>
inline Dual<T> Reciprocal(const Dual<T>& x) {
  const T r = Reciprocal(x.value);
  return {r, -(r * r * x.tangent)};
}

inline double Log(double x) { return std::log(x); }
template <class T>
inline Dual<T> Log(const Dual<T>& x) {
  return {Log(x.value), x.tangent * Reciprocal(x.value)};
}

// Returns value + sum_{i=1..k} tangents[i - 1][index] eps_i, where k = Depth<T>
// is the nesting depth of T and eps_1 belongs to the innermost dual number.
template <class T>
struct Seed {
  static T Make(double value, const double* const* /*tangents*/,
                int64_t /*index*/) {
    return value;
  }
};
template <class T>
struct Seed<Dual<T>> {
  static Dual<T> Make(double value, const double* const* tangents,
                      int64_t index) {
    constexpr int kLast = Depth<T>::kValue;
    return {Seed<T>::Make(value, tangents, index), T(tangents[kLast][index])};
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_DUAL_H_
