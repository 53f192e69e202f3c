// Sums whose rounding errors are added up separately (compensated summation),
// so that they are as accurate as in twice the working precision.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_COMPENSATED_SUM_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_COMPENSATED_SUM_H_

#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Adds x to *sum, and the rounding error of this addition to *low (two-sum).
template <class T>
inline void AddCompensated(const T& x, T* sum, T* low) {
  const T total = *sum + x;
  const T part = total - *sum;
  *low = *low + ((*sum - (total - part)) + (x - part));
  *sum = total;
}

template <class T>
struct CompensatedSum {
  double high = 0.0;
  double low = 0.0;
  void Add(const T& term) {
    const double x = Primal(term);
    const double sum = high + x;
    const double part = sum - high;
    low += (high - (sum - part)) + (x - part);
    high = sum;
  }
  double Result() const { return high + low; }
  double Low() const { return low - (Result() - high); }
};
template <class T>
struct CompensatedSum<Dual<T>> {
  CompensatedSum<T> value;
  CompensatedSum<T> tangent;
  void Add(const Dual<T>& x) {
    value.Add(x.value);
    tangent.Add(x.tangent);
  }
  Dual<T> Result() const { return {value.Result(), tangent.Result()}; }
  auto Low() const { return value.Low(); }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_COMPENSATED_SUM_H_
