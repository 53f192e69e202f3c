// The entries of an operator M = W + I - diag(rho), and how the result of a
// step is rounded; see operator.h.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_STEP_ENTRIES_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_STEP_ENTRIES_H_

#include <cstdint>

#include "native/kernel/matrix/tiles.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// The diagonal of M: of the mass x in a phase, x - rho x stays there in a step.
// With compensated rounding errors, this is computed without cancellation:
//   base * x - leaving * x.
// If rho is below one half, base is 1 and leaving is rho; otherwise base is 0
// and leaving is rho - 1.
template <class T>
struct Staying {
  using Plain = typename WithoutTangents<T>::Type;
  const T* share = nullptr;  // 1 - rho
  const Plain* base = nullptr;
  const T* leaving = nullptr;
  const Plain* leaving_low = nullptr;  // rounding error of leaving
};

template <class T>
struct Operator {
  int64_t size = 0;
  int64_t stride = 0;  // of state vectors
  Staying<T> staying;
  TilePattern pattern;
  const T* weights = nullptr;      // W, cell by cell
  const double* planes = nullptr;  // see WeightPlanes
};

// Returns the rounded sum stay + change, and its rounding error in `low`.
template <class V>
inline V AddChange(const V& change, const V& stay, V* low) {
  const V sum = stay + change;
  const V part = sum - stay;
  *low = (stay - (sum - part)) + (change - part);
  return sum;
}

// Computes base * in + low + (inflow - leaving * in). Returns the rounded
// result and stores its rounding error in `low`. Without this compensation, a
// slow phase that changes by less than half of its last digit in each of
// millions of steps would never change.
template <class V>
inline V AddCompensated(const V& inflow, const V& in, const V& base,
                        const V& leaving, const V& leaving_low, V* low) {
  const V change = ((inflow - leaving * in) - leaving_low * in) + *low;
  return AddChange<V>(change, base * in, low);
}

enum class Rounding { kPlain, kCompensated };

// A vector that is added to the result of a step after multiplication by a
// factor.
template <class T>
struct Source {
  T factor;
  const T* vector;
};

// Computes entry j of the result, given the inflow into phase j.
template <Rounding kRounding, class T>
[[gnu::always_inline]] inline void FinishColumn(const Operator<T>& m, int64_t j,
                                                T inflow,
                                                const T* __restrict in,
                                                T* __restrict low,
                                                T* __restrict out) {
  const Staying<T>& s = m.staying;
  if (kRounding == Rounding::kPlain) {
    AddProduct(s.share[j], in[j], &inflow);
    out[j] = inflow;
    return;
  }
  AddProduct(-s.leaving[j], in[j], &inflow);
  AddProduct(-s.leaving_low[j], in[j], &inflow);
  out[j] = AddChange(inflow + low[j], s.base[j] * in[j], &low[j]);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_STEP_ENTRIES_H_
