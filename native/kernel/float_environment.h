// Floating-point mode of a sweep: round to nearest, denormals flushed to zero,
// nothing trapped; the caller's mode is restored at the end. The underflow
// flag tells whether anything was flushed.

#ifndef PHASIC_NATIVE_KERNEL_FLOAT_ENVIRONMENT_H_
#define PHASIC_NATIVE_KERNEL_FLOAT_ENVIRONMENT_H_

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

#include "native/kernel/isa.h"

namespace phasic {
namespace PHASIC_ISA {

class FloatEnvironment {
 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

#if defined(__SSE2__)
  // 0x1f80: all exceptions masked, nearest; 0x8040: flush to zero and
  // denormals are zero.
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80U | 0x8040U); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }
  static bool Underflowed() { return (_mm_getcsr() & 0x10U) != 0; }
  static void ClearUnderflow() { _mm_setcsr(_mm_getcsr() & ~0x3fU); }

 private:
  unsigned saved_;
#else
  FloatEnvironment() { std::feholdexcept(&saved_); }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
  static bool Underflowed() { return std::fetestexcept(FE_UNDERFLOW) != 0; }
  static void ClearUnderflow() { std::feclearexcept(FE_ALL_EXCEPT); }

 private:
  std::fenv_t saved_;
#endif
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FLOAT_ENVIRONMENT_H_
