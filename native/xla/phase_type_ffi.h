// XLA FFI handlers of the phase-type kernel, for JAX on CPU.
//
// Operands and results are those of phasic::Forward, phasic::Adjoint,
// phasic::Statistics and phasic::Quantiles; the arrays of edges and the kinds
// of the times come before the operands. The attributes kind, order,
// mapped_dims and, for the adjoint only, wanted are int32. The attributes
// has_edges, has_kinds and discrete are boolean.

#ifndef PHASIC_NATIVE_XLA_PHASE_TYPE_FFI_H_
#define PHASIC_NATIVE_XLA_PHASE_TYPE_FFI_H_

#include "xla/ffi/api/c_api.h"

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicPhaseTypeForward(XLA_FFI_CallFrame* call_frame);

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicPhaseTypeAdjoint(XLA_FFI_CallFrame* call_frame);

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicPhaseTypeStatistics(XLA_FFI_CallFrame* call_frame);

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicPhaseTypeQuantiles(XLA_FFI_CallFrame* call_frame);

#endif  // PHASIC_NATIVE_XLA_PHASE_TYPE_FFI_H_
