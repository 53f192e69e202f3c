// Compensated sums of many scaled numbers.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_SCALED_SUM_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_SCALED_SUM_H_

#include <cstdint>

#include "native/kernel/numbers/compensated_sum.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// A sum of scaled numbers with compensation. Terms that are too small to change
// the last digit of the sum are not lost, as a million of them may matter.
template <class T>
class ScaledSum {
 public:
  void Add(const Scaled<T>& term) {
    if (IsZero(term.mantissa)) return;
    const Scaled<T> x = Normalized(term);
    if (IsZero(sum_.mantissa)) sum_.exponent = x.exponent;
    if (x.exponent > sum_.exponent) ScaleTo(x.exponent);
    AddCompensated(ScaleBy(x.mantissa, x.exponent - sum_.exponent),
                   &sum_.mantissa, &low_);
    ScaleTo(Normalized(sum_).exponent);
  }

  Scaled<T> Result() const { return {sum_.mantissa + low_, sum_.exponent}; }

 private:
  void ScaleTo(int64_t exponent) {
    const int64_t e = sum_.exponent - exponent;
    if (e == 0) return;
    sum_ = {ScaleBy(sum_.mantissa, e), exponent};
    low_ = ScaleBy(low_, e);
  }

  Scaled<T> sum_;
  T low_{};
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_SCALED_SUM_H_
