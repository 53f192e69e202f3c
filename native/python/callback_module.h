// Lets XLA programs call Python functions, for phasic.binding.

#ifndef PHASIC_NATIVE_PYTHON_CALLBACK_MODULE_H_
#define PHASIC_NATIVE_PYTHON_CALLBACK_MODULE_H_

#include <pybind11/pybind11.h>

namespace phasic {

// DefineCallbacks adds the functions start_callbacks, add_callback and
// stop_callbacks to a module; AddCallbackTarget adds the FFI target to the dict
// of ffi_targets.
void DefineCallbacks(pybind11::module_* module);
void AddCallbackTarget(pybind11::dict* targets);

}  // namespace phasic

#endif  // PHASIC_NATIVE_PYTHON_CALLBACK_MODULE_H_
