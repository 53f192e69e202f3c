// The XLA FFI handler that draws exponential random numbers, for JAX on CPU.
//
// The operand is a batch of Threefry keys, uint32 [batch..., 2]. The attribute
// `path` has the integers that are folded into each key first, in their order.
// The result, [batch..., n], has the numbers that jax.random.exponential draws
// for these keys, up to the rounding of the logarithm. JAX compiles its own
// generator for most of a second, and a call of this handler in milliseconds.

#ifndef PHASIC_NATIVE_XLA_RANDOM_FFI_H_
#define PHASIC_NATIVE_XLA_RANDOM_FFI_H_

#include "xla/ffi/api/c_api.h"

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*
PhasicExponential(XLA_FFI_CallFrame* call_frame);

#endif  // PHASIC_NATIVE_XLA_RANDOM_FFI_H_
