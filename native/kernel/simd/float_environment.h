// Sets the floating-point mode of a scope: round to nearest, exceptions masked,
// and denormals either flushed to zero (in sweeps, where they would be ten
// times slower) or kept. The caller's mode is restored at the end. The
// underflow flag records whether anything was flushed.

#ifndef PHASIC_NATIVE_KERNEL_SIMD_FLOAT_ENVIRONMENT_H_
#define PHASIC_NATIVE_KERNEL_SIMD_FLOAT_ENVIRONMENT_H_

#if defined(__SSE2__) || defined(__aarch64__)
#include "native/kernel/simd/float_registers.h"
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

#if defined(__SSE2__) || defined(__aarch64__)
  explicit FloatEnvironment(Denormals denormals) {
    registers_.Set(denormals == Denormals::kFlush);
  }
  ~FloatEnvironment() { registers_.Restore(); }
  static bool Underflowed() {
    return (FloatRegisters::Flags() & FloatRegisters::kUnderflow) != 0;
  }
  // Returns whether a result overflowed or underflowed since the flags were
  // last cleared.
  static bool LeftRange() { return (FloatRegisters::Flags() & kRange) != 0; }
  static void ClearRange() { Clear(kRange); }
  static void ClearUnderflow() { Clear(FloatRegisters::kUnderflow); }
  static void NoteUnderflow() {
    FloatRegisters::SetFlags(FloatRegisters::Flags() |
                             FloatRegisters::kUnderflow);
  }
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
#if defined(__SSE2__) || defined(__aarch64__)
  static constexpr auto kRange =
      FloatRegisters::kUnderflow | FloatRegisters::kOverflow;

  // Writing takes far longer than reading.
  static void Clear(FloatRegisters::Bits flags) {
    const auto raised = FloatRegisters::Flags();
    if ((raised & flags) != 0) FloatRegisters::SetFlags(raised & ~flags);
  }

  FloatRegisters registers_;
#else
  std::fenv_t saved_;
#endif
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SIMD_FLOAT_ENVIRONMENT_H_
