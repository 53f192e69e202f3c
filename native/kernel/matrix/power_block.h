// The number of steps per block of a power sequence.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_POWER_BLOCK_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_POWER_BLOCK_H_

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// States v_k = v P^k, the terms of series in v_k, and their Poisson weights are
// computed in blocks of kBlock consecutive indices k.
constexpr int kBlock = 16;

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_POWER_BLOCK_H_
