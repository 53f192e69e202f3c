// Handlers that only TensorFlow's XLA has.

#ifndef PHASIC_NATIVE_TF_XLA_HANDLERS_H_
#define PHASIC_NATIVE_TF_XLA_HANDLERS_H_

#include "xla/ffi/api/ffi.h"

namespace phasic {

// "phasic_call_python": calls a Python function by its number.
XLA_FFI_Handler* CallPythonHandler();

}  // namespace phasic

#endif  // PHASIC_NATIVE_TF_XLA_HANDLERS_H_
