// FFI handlers that are registered only with TensorFlow's XLA.

#ifndef PHASIC_NATIVE_TF_XLA_HANDLERS_H_
#define PHASIC_NATIVE_TF_XLA_HANDLERS_H_

#include "xla/ffi/api/ffi.h"

namespace phasic {

// Returns the handler "phasic_call_python", which calls a Python function by
// its number.
XLA_FFI_Handler* CallPythonHandler();

}  // namespace phasic

#endif  // PHASIC_NATIVE_TF_XLA_HANDLERS_H_
