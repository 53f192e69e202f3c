// The processor's floating-point modes and flags: one register on x86-64, two
// on aarch64. float_environment.h is what sweeps use.

#ifndef PHASIC_NATIVE_KERNEL_SIMD_FLOAT_REGISTERS_H_
#define PHASIC_NATIVE_KERNEL_SIMD_FLOAT_REGISTERS_H_

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <cstdint>

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

#if defined(__SSE2__)

class FloatRegisters {
 public:
  using Bits = unsigned;
  static constexpr Bits kOverflow = 0x8U, kUnderflow = 0x10U;
  // Flushes results to zero and treats denormal operands as zero.
  static constexpr Bits kFlush = 0x8040U;

  FloatRegisters() : saved_(_mm_getcsr()) {}
  // Clears the flags. 0x1f80 masks all exceptions and rounds to nearest.
  void Set(bool flushes) { Write(flushes ? 0x1f80U | kFlush : 0x1f80U); }
  void Restore() { Write(saved_); }

  static Bits Modes() { return _mm_getcsr() & ~0x3fU; }
  static void SetModes(Bits bits) { _mm_setcsr(bits); }
  static Bits Flags() { return _mm_getcsr(); }
  static void SetFlags(Bits bits) { _mm_setcsr(bits); }

 private:
  // Writing takes far longer than reading, and two of the flags, 0x22 for
  // inexact results and denormal operands, are nearly always raised.
  static void Write(Bits bits) {
    if (((_mm_getcsr() ^ bits) & ~0x22U) != 0) _mm_setcsr(bits);
  }

  Bits saved_;
};

#elif defined(__aarch64__)

class FloatRegisters {
 public:
  using Bits = uint64_t;
  static constexpr Bits kOverflow = 0x4U, kUnderflow = 0x8U;
  // Flushes results to zero and treats denormal operands as zero.
  static constexpr Bits kFlush = Bits{1} << 24;

  FloatRegisters() : modes_(Modes()), flags_(Flags()) {}
  // Clears the flags. Without other bits, exceptions are masked and results
  // rounded to nearest.
  void Set(bool flushes) { Write(flushes ? kFlush : 0U, 0U); }
  void Restore() { Write(modes_, flags_); }

  static Bits Modes() {
    Bits bits;
    __asm__ volatile("mrs %0, fpcr" : "=r"(bits));
    return bits;
  }
  static void SetModes(Bits bits) {
    __asm__ volatile("msr fpcr, %0" : : "r"(bits));
  }
  static Bits Flags() {
    Bits bits;
    __asm__ volatile("mrs %0, fpsr" : "=r"(bits));
    return bits;
  }
  static void SetFlags(Bits bits) {
    __asm__ volatile("msr fpsr, %0" : : "r"(bits));
  }

 private:
  // The flags 0x90, for inexact results and denormal operands, are nearly
  // always raised.
  static void Write(Bits modes, Bits flags) {
    if (Modes() != modes) SetModes(modes);
    if (((Flags() ^ flags) & ~Bits{0x90}) != 0) SetFlags(flags);
  }

  Bits modes_;
  Bits flags_;
};

#endif

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SIMD_FLOAT_REGISTERS_H_
