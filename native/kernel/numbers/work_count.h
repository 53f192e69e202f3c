// Counts multiply-adds, for tests of the cost of calls. Compiled only if
// PHASIC_COUNTS_WORK is defined.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_WORK_COUNT_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_WORK_COUNT_H_

#include <cstdint>

#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/extended_double.h"
#include "native/kernel/simd/isa.h"

namespace phasic {

#if defined(PHASIC_COUNTS_WORK)
inline thread_local double counted_work = 0.0;
#endif

namespace PHASIC_ISA {

// The cost of a multiply-add of numbers of type T, relative to a multiply-add
// of doubles.
template <class T>
struct WorkOf {
  static constexpr double kValue = 1.0;
};
template <>
struct WorkOf<ExtendedDouble> {
  static constexpr double kValue = 10.0;
};
template <class T>
struct WorkOf<Dual<T>> {
  static constexpr double kValue = 3.0 * WorkOf<T>::kValue;
};

#if defined(PHASIC_COUNTS_WORK)
template <class T>
inline void CountWork(int64_t multiply_adds) {
  counted_work += WorkOf<T>::kValue * static_cast<double>(multiply_adds);
}
#else
template <class T>
inline void CountWork(int64_t) {}
#endif

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_WORK_COUNT_H_
