// XLA FFI handlers of the phase-type kernel, for JAX on CPU.
//
// Operands and results are those of phasic::Forward, phasic::Adjoint and
// phasic::Statistics, before the operands the arrays of edges and the kinds of
// the times. Attributes: kind, order, mapped_dims, has_edges, has_kinds,
// discrete and, of the adjoint alone, wanted; int32 but for the three that say
// whether.

#ifndef PHASIC_NATIVE_XLA_PHASE_TYPE_FFI_H_
#define PHASIC_NATIVE_XLA_PHASE_TYPE_FFI_H_

#include "xla/ffi/api/c_api.h"

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicPhaseTypeForward(XLA_FFI_CallFrame* call_frame);

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicPhaseTypeAdjoint(XLA_FFI_CallFrame* call_frame);

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicPhaseTypeStatistics(XLA_FFI_CallFrame* call_frame);

#endif  // PHASIC_NATIVE_XLA_PHASE_TYPE_FFI_H_
