// Python functions that XLA programs call, for phasic.binding.

#ifndef PHASIC_NATIVE_PYTHON_CALLBACK_MODULE_H_
#define PHASIC_NATIVE_PYTHON_CALLBACK_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

// Defines start_callbacks, add_callback and stop_callbacks, and adds the FFI
// target to ffi_targets' dict.
void DefineCallbacks(pybind11::module_* module);
void AddCallbackTarget(pybind11::dict* targets);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_CALLBACK_MODULE_H_
