// One step of a power sequence, out = in M for the substochastic matrix
// M = W + I - diag(rho), with W >= 0 dense or sparse.

#ifndef PHASIC_NATIVE_KERNEL_OPERATOR_H_
#define PHASIC_NATIVE_KERNEL_OPERATOR_H_

#include <cstdint>

#include "native/kernel/dual.h"
#include "native/kernel/isa.h"
#include "native/kernel/workspace.h"

namespace phasic {
namespace PHASIC_ISA {

// Rows of `dense` have this many items, padded with zeros.
inline int64_t PaddedSize(int64_t p) { return (p + 7) / 8 * 8; }

// Eight doubles, in as many registers as the instruction set needs.
#if defined(__AVX512F__)
constexpr int kWidth = 8;
#elif defined(__AVX__)
constexpr int kWidth = 4;
#else
constexpr int kWidth = 2;
#endif
using Vector = double __attribute__((vector_size(kWidth * sizeof(double)),
                                     aligned(sizeof(double)), may_alias));
constexpr int kParts = 8 / kWidth;

struct Eight {
  Vector parts[kParts];

  static Eight Load(const double* x) {
    Eight result;
    for (int l = 0; l < kParts; ++l) {
      result.parts[l] = *reinterpret_cast<const Vector*>(x + l * kWidth);
    }
    return result;
  }
  void Store(double* x) const {
    for (int l = 0; l < kParts; ++l) {
      *reinterpret_cast<Vector*>(x + l * kWidth) = parts[l];
    }
  }
  void AddProduct(double a, const Eight& x) {
    for (int l = 0; l < kParts; ++l) parts[l] += a * x.parts[l];
  }
};

// The rows, in fours, that hold anything in one set of eight columns.
struct RowRange {
  int32_t first;
  int32_t last;
};

template <class T>
struct Operator {
  int64_t size = 0;
  int64_t stride = 0;                   // of dense rows
  const T* leaving = nullptr;           // rho
  const double* leaving_low = nullptr;  // what rho's rounding left out
  const T* dense = nullptr;             // W[i * stride + j], with
  const RowRange* ranges = nullptr;     // [stride / 8], or nullptr and
  const int64_t* offsets = nullptr;     // [size + 1], by destination
  const int32_t* sources = nullptr;
  const T* weights = nullptr;
};

// The staying part of a step. `low` holds what rounding left out of `in` on
// entry and of the result on return: a slow phase changes by far less than its
// last digit in each of millions of steps. rho is kept, and 1 - rho never
// formed, for the same reason.
template <class V>
inline V AddStaying(const V& inflow, const V& in, const V& leaving,
                    const V& leaving_low, V* low) {
  const V change = ((inflow - leaving * in) - leaving_low * in) + *low;
  const V sum = in + change;
  const V part = sum - in;
  *low = (in - (sum - part)) + (change - part);
  return sum;
}

template <class T>
void ApplyDense(const Operator<T>& m, const T* __restrict in, T* __restrict low,
                T* __restrict out) {
  for (int64_t j = 0; j < m.stride; ++j) {
    const RowRange& range = m.ranges[j / 8];
    T inflow = T(0.0);
    for (int64_t i = range.first; i < range.last; ++i) {
      inflow += m.dense[i * m.stride + j] * in[i];
    }
    out[j] =
        AddStaying(inflow, in[j], m.leaving[j], T(m.leaving_low[j]), &low[j]);
  }
}
inline void ApplyDense(const Operator<double>& m, const double* __restrict in,
                       double* __restrict low, double* __restrict out) {
  for (int64_t j = 0; j < m.stride; j += 8) {
    const RowRange& range = m.ranges[j / 8];
    Eight sums[4] = {};
    for (int64_t i = range.first; i < range.last; i += 4) {
      const double* row = m.dense + i * m.stride + j;
      for (int a = 0; a < 4; ++a) {
        sums[a].AddProduct(in[i + a], Eight::Load(row + a * m.stride));
      }
    }
    const Eight old = Eight::Load(in + j);
    const Eight leaving = Eight::Load(m.leaving + j);
    const Eight leaving_low = Eight::Load(m.leaving_low + j);
    Eight rest = Eight::Load(low + j);
    Eight result;
    for (int l = 0; l < kParts; ++l) {
      const Vector inflow = (sums[0].parts[l] + sums[1].parts[l]) +
                            (sums[2].parts[l] + sums[3].parts[l]);
      result.parts[l] = AddStaying(inflow, old.parts[l], leaving.parts[l],
                                   leaving_low.parts[l], &rest.parts[l]);
    }
    result.Store(out + j);
    rest.Store(low + j);
  }
}

template <class T>
void ApplySparse(const Operator<T>& m, const T* __restrict in,
                 T* __restrict low, T* __restrict out) {
  for (int64_t j = 0; j < m.size; ++j) {
    T inflow = T(0.0);
    for (int64_t e = m.offsets[j]; e < m.offsets[j + 1]; ++e) {
      inflow += m.weights[e] * in[m.sources[e]];
    }
    out[j] =
        AddStaying(inflow, in[j], m.leaving[j], T(m.leaving_low[j]), &low[j]);
  }
}

// out = in M, with in + low the state and out + low the next one.
template <class T>
inline void Apply(const Operator<T>& m, const T* in, T* low, T* out) {
  if (m.dense != nullptr) {
    ApplyDense(m, in, low, out);
  } else {
    ApplySparse(m, in, low, out);
  }
}

// sum_i x[i] y[i] with eight running sums.
template <class T>
inline T Dot(const T* __restrict x, const T* __restrict y, int64_t stride) {
  T sums[8];
  for (int l = 0; l < 8; ++l) sums[l] = T(0.0);
  for (int64_t i = 0; i < stride; i += 8) {
    for (int l = 0; l < 8; ++l) sums[l] += x[i + l] * y[i + l];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
         ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

template <class T>
inline T Sum(const T* __restrict x, int64_t stride) {
  T sums[8];
  for (int l = 0; l < 8; ++l) sums[l] = T(0.0);
  for (int64_t i = 0; i < stride; i += 8) {
    for (int l = 0; l < 8; ++l) sums[l] += x[i + l];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
         ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_OPERATOR_H_
