// A value and its tangents in several directions. Each tangent has the same
// bits as in a separate Dual<double>: the operations are the same, and numbers
// are scaled by the size of the value only. If a tangent is so much larger than
// the value that it must affect scaling, all results become NaN. The caller
// then evaluates each direction by itself.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_DIRECTIONS_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_DIRECTIONS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "native/kernel/numbers/compensated_sum.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kDirections = kRegisterWidth < 4 ? 4 : kRegisterWidth;

struct Directions {
  using Tangents = Pack<kDirections>;
  Tangents tangents;
  double value;

  Directions() = default;
  Directions(double x) : tangents(0.0), value(x) {}  // NOLINT: scalars embed
  Directions(double v, const Tangents& t) : tangents(t), value(v) {}

  static Directions NaN() {
    constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
    return {kNaN, Tangents(kNaN)};
  }
};

template <>
struct Depth<Directions> {
  static constexpr int kValue = 1;
};
template <>
struct HasDirections<Directions> {
  static constexpr bool kValue = true;
};

inline double Primal(const Directions& x) { return x.value; }
inline bool PrimalIsZero(const Directions& x) { return x.value == 0.0; }
inline double LargestOf(const Directions::Tangents& sizes) {
  double all[kDirections];
  sizes.Store(all);
  return *std::max_element(all, all + kDirections);
}
inline Directions::Tangents Abs(const Directions::Tangents& x) {
  return Directions::Tangents::LargerSize(Directions::Tangents(0.0), x);
}
inline double MaxAbs(const Directions& x) {
  return std::max(std::fabs(x.value), LargestOf(Abs(x.tangents)));
}
inline bool IsZero(const Directions& x) {
  // Comparisons with NaN are false, so that NaN is not zero.
  using Tangents = Directions::Tangents;
  const Tangents zero(0.0);
  return x.value == 0.0 && !Any(~((x.tangents <= zero) & (zero <= x.tangents)));
}

inline Directions Abs(const Directions& x) {
  return {std::fabs(x.value), Abs(x.tangents)};
}

inline Directions operator+(const Directions& a, const Directions& b) {
  return {a.value + b.value, a.tangents + b.tangents};
}
inline Directions operator-(const Directions& a, const Directions& b) {
  return {a.value - b.value, a.tangents - b.tangents};
}
inline Directions operator-(const Directions& a) {
  return {-a.value, -1.0 * a.tangents};
}
inline Directions operator*(const Directions& a, const Directions& b) {
  using Tangents = Directions::Tangents;
  return {a.value * b.value, MultiplyAdd(Tangents(a.value), b.tangents,
                                         a.tangents * Tangents(b.value))};
}
inline Directions operator*(double a, const Directions& b) {
  return {a * b.value, a * b.tangents};
}
inline Directions operator*(const Directions& a, double b) { return b * a; }
inline Directions& operator+=(Directions& a, const Directions& b) {
  return a = a + b;
}
inline Directions& operator-=(Directions& a, const Directions& b) {
  return a = a - b;
}

[[gnu::always_inline]] inline void AddProduct(const Directions& a,
                                              const Directions& b,
                                              Directions* sum) {
  sum->value = MultiplyAdd(a.value, b.value, sum->value);
  sum->tangents = sum->tangents + (a * b).tangents;
}
[[gnu::always_inline]] inline void AddProduct(double a, const Directions& b,
                                              Directions* sum) {
  sum->value = MultiplyAdd(a, b.value, sum->value);
  sum->tangents =
      MultiplyAdd(Directions::Tangents(a), b.tangents, sum->tangents);
}

// Reads tangents that are stored side by side, kDirections for each number.
template <>
struct Seed<Directions> {
  static Directions Make(double value, const double* const* tangents,
                         int64_t index) {
    return {value,
            Directions::Tangents::Load(tangents[0] + kDirections * index)};
  }
};

template <>
struct CompensatedSum<Directions> {
  CompensatedSum<double> value;
  Directions::Tangents high{0.0};
  Directions::Tangents low{0.0};

  void Add(const Directions& x) {
    value.Add(x.value);
    const Directions::Tangents sum = high + x.tangents;
    const Directions::Tangents part = sum - high;
    low = low + ((high - (sum - part)) + (x.tangents - part));
    high = sum;
  }
  Directions Result() const { return {value.Result(), high + low}; }
  double Low() const { return value.Low(); }
};

inline Directions ScaleBy(const Directions& x, int64_t e) {
  using Tangents = Directions::Tangents;
  const double value = ScaleBy(x.value, e);
  if (e == 0) return x;
  if (e >= -1000 && e <= 1000) {
    return {value, PowerOfTwo(e) * x.tangents};
  }
  double tangents[kDirections];
  x.tangents.Store(tangents);
  for (double& tangent : tangents) tangent = ScaleBy(tangent, e);
  return {value, Tangents::Load(tangents)};
}

inline Scaled<Directions> Normalized(const Scaled<Directions>& x) {
  const double value = std::fabs(x.mantissa.value);
  if (!(MaxAbs(x.mantissa) <= kFarLarger * value)) {
    return {Directions::NaN(), x.exponent};
  }
  if (!(value > 0.0 && value < HUGE_VAL)) return x;
  const int64_t e = ExponentOf(value);
  return {ScaleBy(x.mantissa, -e), x.exponent + e};
}

inline double LargestSize(const Directions* x, int64_t stride) {
  double largest = 0.0;
  Directions::Tangents sizes(0.0);
  for (int64_t i = 0; i < stride; ++i) {
    largest = std::max(largest, std::fabs(x[i].value));
    sizes = Directions::Tangents::LargerSize(sizes, x[i].tangents);
  }
  return std::max(largest, LargestOf(sizes));
}

// Returns the largest absolute value in a state, by which the state is scaled.
// If a tangent is far larger than that, sets an entry of the state to NaN, so
// that all later results are NaN.
inline Scaled<double> SizeToScale(Directions* state, int64_t stride) {
  double value = 0.0;
  for (int64_t i = 0; i < stride; ++i) {
    value = std::max(value, std::fabs(state[i].value));
  }
  if (!(LargestSize(state, stride) <= kFarLarger * value)) {
    state[0] = Directions::NaN();
  }
  return {value, 0};
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_DIRECTIONS_H_
