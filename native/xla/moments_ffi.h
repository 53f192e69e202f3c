// The XLA FFI handler that computes moments by elimination, for JAX on CPU.
//
// Operands are indices, weights, initial, atom and stay. Results are the mean;
// if gives_variance is set, the variance; and, if gives_gradients is set, the
// gradients of each of these with respect to weights and initial.

#ifndef PHASIC_NATIVE_XLA_MOMENTS_FFI_H_
#define PHASIC_NATIVE_XLA_MOMENTS_FFI_H_

#include "xla/ffi/api/c_api.h"

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error* PhasicMoments(
    XLA_FFI_CallFrame* call_frame);

#endif  // PHASIC_NATIVE_XLA_MOMENTS_FFI_H_
