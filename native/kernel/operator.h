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

// Four rows of a dense matrix are applied together; only columns from `first`
// to `last`, multiples of eight, hold anything.
struct ColumnRange {
  int32_t first;
  int32_t last;
};

template <class T>
struct Operator {
  int64_t size = 0;
  int64_t stride = 0;  // of dense rows
  const T* leaving = nullptr;            // rho
  const double* leaving_low = nullptr;   // what rho's rounding left out
  const T* dense = nullptr;              // W[i * stride + j], with
  const ColumnRange* ranges = nullptr;   // [size / 4], or nullptr and
  const int64_t* offsets = nullptr;      // [size + 1], by destination
  const int32_t* sources = nullptr;
  const T* weights = nullptr;
};

// out = in M. `low` holds what rounding left out of `in` on entry and of `out`
// on return: a slow phase changes by far less than its last digit in each of
// millions of steps. rho is kept, and 1 - rho never formed, for the same
// reason. `out` holds the inflow on entry.
template <class T>
inline void AddStaying(const Operator<T>& m, const T* __restrict in,
                       T* __restrict low, T* __restrict out) {
  for (int64_t i = 0; i < m.size; ++i) {
    const T change =
        ((out[i] - m.leaving[i] * in[i]) - m.leaving_low[i] * in[i]) + low[i];
    const T sum = in[i] + change;
    const T part = sum - in[i];
    low[i] = (in[i] - (sum - part)) + (change - part);
    out[i] = sum;
  }
}

// target[j] += sum of four rows, each times its factor.
template <class T>
inline void AddRows(const T* factors, const T* __restrict row, int64_t stride,
                    const ColumnRange& range, T* __restrict target) {
  for (int64_t j = range.first; j < range.last; ++j) {
    target[j] += (factors[0] * row[j] + factors[1] * row[stride + j]) +
                 (factors[2] * row[2 * stride + j] +
                  factors[3] * row[3 * stride + j]);
  }
}
inline void AddRows(const double* factors, const double* __restrict row,
                    int64_t stride, const ColumnRange& range,
                    double* __restrict target) {
  for (int64_t j = range.first; j < range.last; j += 8) {
    Eight sum = Eight::Load(target + j);
    for (int a = 0; a < 4; ++a) {
      sum.AddProduct(factors[a], Eight::Load(row + a * stride + j));
    }
    sum.Store(target + j);
  }
}

template <class T>
void DenseInflow(const Operator<T>& m, const T* __restrict in,
                 T* __restrict out) {
  for (int64_t i = 0; i < m.stride; ++i) out[i] = T(0.0);
  for (int64_t i = 0; i < m.size; i += 4) {
    AddRows(in + i, m.dense + i * m.stride, m.stride, m.ranges[i / 4], out);
  }
}

template <class T>
void SparseInflow(const Operator<T>& m, const T* __restrict in,
                     T* __restrict out) {
  for (int64_t j = 0; j < m.size; ++j) {
    T sum = T(0.0);
    for (int64_t e = m.offsets[j]; e < m.offsets[j + 1]; ++e) {
      sum += m.weights[e] * in[m.sources[e]];
    }
    out[j] = sum;
  }
}

template <class T>
inline void Apply(const Operator<T>& m, const T* in, T* low, T* out) {
  if (m.dense != nullptr) {
    DenseInflow(m, in, out);
  } else {
    SparseInflow(m, in, out);
  }
  AddStaying(m, in, low, out);
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
