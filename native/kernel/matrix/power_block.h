// The number of powers of a matrix in a block.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_POWER_BLOCK_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_POWER_BLOCK_H_

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// States v_k = v P^k, terms of series in them, and their Poisson weights are
// computed in blocks of consecutive k.
constexpr int kBlock = 16;

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_POWER_BLOCK_H_
