// Calls a function for each index of a loop of fixed length. The index is a
// compile-time constant, so that indexed arrays stay in registers.

#ifndef PHASIC_NATIVE_KERNEL_SIMD_UNROLLED_H_
#define PHASIC_NATIVE_KERNEL_SIMD_UNROLLED_H_

#include <type_traits>

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

template <int kCount, class Body>
[[gnu::always_inline]] inline void Unrolled(const Body& body) {
  if constexpr (kCount > 0) {
    Unrolled<kCount - 1>(body);
    body(std::integral_constant<int, kCount - 1>());
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SIMD_UNROLLED_H_
