// Which x86-64 levels this processor and its operating system support, by the
// instructions that tell. The compilers' own way, __builtin_cpu_supports, needs
// a part of their runtime libraries that not all have.

#ifndef PHASIC_NATIVE_KERNEL_BUILDS_X86_64_LEVELS_H_
#define PHASIC_NATIVE_KERNEL_BUILDS_X86_64_LEVELS_H_

#if defined(__x86_64__)

#include <cpuid.h>

#include <cstdint>

namespace phasic {

// Returns 3 or 4 for x86-64-v3 or v4, as the ABI of x86-64 defines them, and 0
// where not even v3 is supported.
inline int SupportedX8664Level() {
  constexpr uint32_t kFma = 1U << 12, kMovbe = 1U << 22, kOsXsave = 1U << 27,
                     kAvx = 1U << 28, kF16c = 1U << 29;
  constexpr uint32_t kV3Basic = kFma | kMovbe | kOsXsave | kAvx | kF16c;
  constexpr uint32_t kBmi1 = 1U << 3, kAvx2 = 1U << 5, kBmi2 = 1U << 8;
  constexpr uint32_t kV3More = kBmi1 | kAvx2 | kBmi2;
  constexpr uint32_t kLzcnt = 1U << 5;
  constexpr uint32_t kAvx512 = 1U << 16 | 1U << 17 | 1U << 28 | 1U << 30 |
                               1U << 31;  // F, DQ, CD, BW, VL
  // What the system saves of a thread: registers of 128 and 256 bits, and of
  // 512 bits with masks.
  constexpr uint32_t kSaved256 = 0x6, kSaved512 = 0xe6;

  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kV3Basic) != kV3Basic) {
    return 0;
  }
  uint32_t saved = 0, upper = 0;
  __asm__("xgetbv" : "=a"(saved), "=d"(upper) : "c"(0));
  if ((saved & kSaved256) != kSaved256) return 0;
  if (__get_cpuid(0x80000001, &a, &b, &c, &d) == 0 || (c & kLzcnt) == 0) {
    return 0;
  }
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 ||
      (b & kV3More) != kV3More) {
    return 0;
  }
  const bool has_v4 =
      (b & kAvx512) == kAvx512 && (saved & kSaved512) == kSaved512;
  return has_v4 ? 4 : 3;
}

}  // namespace phasic

#endif  // defined(__x86_64__)

#endif  // PHASIC_NATIVE_KERNEL_BUILDS_X86_64_LEVELS_H_
