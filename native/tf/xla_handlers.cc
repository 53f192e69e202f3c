// Registers FFI handlers with the XLA inside TensorFlow, which
// `jit_compile=True` uses.

#include "native/tf/xla_handlers.h"

#include <cstdint>

#include "native/xla/targets.h"
#include "phasic/op/tensorflow_xla.h"

// Registers all handlers with XLA through its interface `api`. Returns 0, or 1
// if XLA refuses a handler.
extern "C" __attribute__((visibility("default"))) int32_t
PhasicRegisterWithXla(const void* api) {
  for (const phasic::FfiTarget& target : phasic::FfiTargets()) {
    if (phasic::RegisterWithXla(static_cast<const XLA_FFI_Api*>(api),
                                target.name, "Host", target.handler) != 0) {
      return 1;
    }
  }
  return phasic::RegisterWithXla(static_cast<const XLA_FFI_Api*>(api),
                                 "phasic_call_python", "Host",
                                 phasic::CallPythonHandler());
}
