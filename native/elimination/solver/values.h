// Operations on the numbers of one model (double) or of several models in SIMD
// lanes (Lanes).

#ifndef PHASIC_NATIVE_ELIMINATION_SOLVER_VALUES_H_
#define PHASIC_NATIVE_ELIMINATION_SOLVER_VALUES_H_

#include <cstdint>
#include <limits>

#include "native/elimination/solver/solver.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

using Lanes = Pack<kLanes>;

inline Lanes operator/(const Lanes& a, const Lanes& b) {
  Lanes result;
  for (int l = 0; l < Lanes::kParts; ++l) {
    result.parts[l] = a.parts[l] / b.parts[l];
  }
  return result;
}

// Reads entry `index` of each model's array into the lanes of `value`.
template <class F>
inline void Read(const F* const* arrays, int64_t index, double* value) {
  *value = static_cast<double>(arrays[0][index]);
}
template <class F>
inline void Read(const F* const* arrays, int64_t index, Lanes* value) {
  for (int l = 0; l < Lanes::kParts; ++l) {
    const F* const* a = arrays + l * Lanes::kPart;
    const auto at = [&](int k) { return static_cast<double>(a[k][index]); };
    if constexpr (Lanes::kPart == 8) {
      value->parts[l] =
          Lanes::Vector{at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)};
    } else if constexpr (Lanes::kPart == 4) {
      value->parts[l] = Lanes::Vector{at(0), at(1), at(2), at(3)};
    } else {
      value->parts[l] = Lanes::Vector{at(0), at(1)};
    }
  }
}

template <class F>
inline void Write(double value, int64_t index, int, F* const* arrays) {
  arrays[0][index] = static_cast<F>(value);
}
template <class F>
inline void Write(const Lanes& value, int64_t index, int count,
                  F* const* arrays) {
  if (count == kLanes) {
    for (int l = 0; l < kLanes; ++l) {
      arrays[l][index] = static_cast<F>(value[l]);
    }
    return;
  }
  for (int l = 0; l < count; ++l) arrays[l][index] = static_cast<F>(value[l]);
}

// Replaces `best` by x if the weight is positive and |x| is less than |best|.
inline void TakeSmaller(double weight, double x, double* best) {
  const double size = x < 0.0 ? 0.0 - x : x;
  const double least = *best < 0.0 ? 0.0 - *best : *best;
  if (weight > 0.0 && size < least) *best = x;
}
inline void TakeSmaller(const Lanes& weight, const Lanes& x, Lanes* best) {
  const Lanes zero(0.0);
  const Lanes size = Select(x < zero, zero - x, x);
  const Lanes least = Select(*best < zero, zero - *best, *best);
  *best = Select((zero < weight) & (size < least), x, *best);
}

// Returns x, or 0 if x is infinite.
inline double FiniteOrZero(double x) {
  return x < std::numeric_limits<double>::infinity() ? x : 0.0;
}
inline Lanes FiniteOrZero(const Lanes& x) {
  return Select(x < Lanes(std::numeric_limits<double>::infinity()), x,
                Lanes(0.0));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// In fronts of this size it is asked whether the call must end: a row takes
// some ten microseconds.
constexpr int64_t kLeastStopped = 256;

// Collects the special cases among the weights and pivots of the models.
template <class V>
class Checks;

template <>
class Checks<double> {
 public:
  void AddWeight(double w) { is_valid_ &= w >= 0.0; }
  void AddPivot(double pivot) {
    is_valid_ &= pivot < kInfinity;
    has_traps_ |= pivot == 0.0;
  }
  Findings findings() const { return {!is_valid_, has_traps_}; }

 private:
  bool is_valid_ = true;
  bool has_traps_ = false;
};

template <>
class Checks<Lanes> {
 public:
  Checks() { good_ = Lanes(0.0) <= Lanes(0.0); }
  void AddWeight(const Lanes& w) { good_ = good_ & (Lanes(0.0) <= w); }
  void AddPivot(const Lanes& pivot) {
    good_ = good_ & ((Lanes(0.0) < pivot) & (pivot < Lanes(kInfinity)));
  }
  uint32_t bad() const {
    uint32_t bits = 0;
    for (int l = 0; l < kLanes; ++l) bits |= good_[l] ? 0U : 1U << l;
    return bits;
  }

 private:
  Lanes::Mask good_;
};

// Computes to += factor * from.
template <class V>
inline void AddMultiple(const V& factor, const V* from, int64_t columns,
                        V* to) {
  for (int64_t c = 0; c < columns; ++c) to[c] = to[c] + factor * from[c];
}

// Computes *sum += a b. For numbers of type Wide, extended_double.h has a
// faster version.
template <class V>
inline void AddProduct(const V& a, const V& b, V* sum) {
  *sum = *sum + a * b;
}

// Computes row[j] += sum_k factors[k] rows[k, j] for the entries j from `begin`
// to `size` - 1, in ascending order of k; rows are `stride` apart.
template <class V>
inline void AddRows(int64_t count, const V* __restrict factors,
                    const V* __restrict rows, int64_t stride, int64_t begin,
                    int64_t size, V* __restrict row) {
  int64_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const V f0 = factors[k];
    const V f1 = factors[k + 1];
    const V f2 = factors[k + 2];
    const V f3 = factors[k + 3];
    const V* __restrict r0 = rows + k * stride;
    const V* __restrict r1 = r0 + stride;
    const V* __restrict r2 = r1 + stride;
    const V* __restrict r3 = r2 + stride;
    for (int64_t j = begin; j < size; ++j) {
      V sum = row[j];
      AddProduct(f0, r0[j], &sum);
      AddProduct(f1, r1[j], &sum);
      AddProduct(f2, r2[j], &sum);
      AddProduct(f3, r3[j], &sum);
      row[j] = sum;
    }
  }
  for (; k < count; ++k) {
    const V f0 = factors[k];
    const V* __restrict r0 = rows + k * stride;
    for (int64_t j = begin; j < size; ++j) AddProduct(f0, r0[j], &row[j]);
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_SOLVER_VALUES_H_
