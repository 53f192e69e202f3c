// Sets the floating-point mode of a scope: round to nearest, exceptions masked,
// and denormals either flushed to zero (in sweeps, where they would be ten
// times slower) or kept. The caller's mode is restored at the end. The
// underflow flag records whether anything was flushed.

#ifndef PHASIC_NATIVE_KERNEL_SIMD_FLOAT_ENVIRONMENT_H_
#define PHASIC_NATIVE_KERNEL_SIMD_FLOAT_ENVIRONMENT_H_

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

enum class Denormals { kKeep, kFlush };

class FloatEnvironment {
 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

#if defined(__SSE2__)
  // Bits of the control register: 0x1f80 masks all exceptions and rounds to
  // nearest; 0x8040 flushes results to zero and treats denormal operands as
  // zero.
  explicit FloatEnvironment(Denormals denormals) : saved_(_mm_getcsr()) {
    Set(denormals == Denormals::kFlush ? 0x1f80U | 0x8040U : 0x1f80U);
  }
  ~FloatEnvironment() { Set(saved_); }
  static bool Underflowed() { return (_mm_getcsr() & 0x10U) != 0; }
  // Returns whether a result overflowed or underflowed since the flags were
  // last cleared.
  static bool LeftRange() { return (_mm_getcsr() & 0x18U) != 0; }
  static void ClearRange() {
    const unsigned state = _mm_getcsr();
    if ((state & 0x18U) != 0) _mm_setcsr(state & ~0x18U);
  }
  static void ClearUnderflow() {
    const unsigned state = _mm_getcsr();
    if ((state & 0x10U) != 0) _mm_setcsr(state & ~0x10U);
  }
  static void NoteUnderflow() { _mm_setcsr(_mm_getcsr() | 0x10U); }
#else
  explicit FloatEnvironment(Denormals) { std::feholdexcept(&saved_); }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
  static bool Underflowed() { return std::fetestexcept(FE_UNDERFLOW) != 0; }
  static bool LeftRange() {
    return std::fetestexcept(FE_UNDERFLOW | FE_OVERFLOW) != 0;
  }
  static void ClearRange() { std::feclearexcept(FE_UNDERFLOW | FE_OVERFLOW); }
  static void ClearUnderflow() { std::feclearexcept(FE_UNDERFLOW); }
  static void NoteUnderflow() { std::feraiseexcept(FE_UNDERFLOW); }
#endif
  // Returns whether anything underflowed since the flag was last cleared, and
  // clears it.
  static bool TakeUnderflow() {
    const bool underflowed = Underflowed();
    ClearUnderflow();
    return underflowed;
  }

 private:
#if defined(__SSE2__)
  // Writing takes far longer than reading, and two of the flags, 0x22 for
  // inexact results and denormal operands, are nearly always raised.
  static void Set(unsigned state) {
    if (((_mm_getcsr() ^ state) & ~0x22U) != 0) _mm_setcsr(state);
  }

  unsigned saved_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SIMD_FLOAT_ENVIRONMENT_H_
