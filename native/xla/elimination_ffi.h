// The XLA FFI handler that solves linear systems by elimination, for JAX on
// CPU.
//
// Operands are indices, weights, per_phase and, if the attribute takes_edges is
// set, per_edge. The handler computes the results for phases and, if
// gives_edges is set, the results for edges. The attribute transposed selects
// whether the systems or their transposes are solved.

#ifndef PHASIC_NATIVE_XLA_ELIMINATION_FFI_H_
#define PHASIC_NATIVE_XLA_ELIMINATION_FFI_H_

#include "xla/ffi/api/c_api.h"

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicEliminate(XLA_FFI_CallFrame* call_frame);

#endif  // PHASIC_NATIVE_XLA_ELIMINATION_FFI_H_
