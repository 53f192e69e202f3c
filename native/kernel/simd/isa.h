// Each build of the sweeps for an instruction set has its own namespace,
// PHASIC_ISA, so that no inline function of one build can replace that of
// another.

#ifndef PHASIC_NATIVE_KERNEL_SIMD_ISA_H_
#define PHASIC_NATIVE_KERNEL_SIMD_ISA_H_

#ifndef PHASIC_ISA
#define PHASIC_ISA generic
#endif

#endif  // PHASIC_NATIVE_KERNEL_SIMD_ISA_H_
