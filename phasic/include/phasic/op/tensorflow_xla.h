// Registers the handler of xla.h with TensorFlow's own XLA, which
// `jit_compile=True` uses.

#ifndef PHASIC_OP_TENSORFLOW_XLA_H_
#define PHASIC_OP_TENSORFLOW_XLA_H_

#include <cstdint>

#include "xla/ffi/api/ffi.h"

namespace phasic {

// Registers a handler for `platform` with the XLA that has the interface `api`.
// Returns 0, or 1 if XLA refused it.
inline int32_t RegisterWithXla(const XLA_FFI_Api* api, const char* name,
                               const char* platform, XLA_FFI_Handler* handler) {
  XLA_FFI_Error* error =
      xla::ffi::Ffi::RegisterStaticHandler(api, name, platform, handler);
  if (error == nullptr) return 0;
  XLA_FFI_Error_Destroy_Args destroy;
  destroy.struct_size = XLA_FFI_Error_Destroy_Args_STRUCT_SIZE;
  destroy.extension_start = nullptr;
  destroy.error = error;
  api->XLA_FFI_Error_Destroy(&destroy);
  return 1;
}

}  // namespace phasic

// Part of PHASIC_OP. Python passes the interface of TensorFlow's XLA.
#define PHASIC_INTERNAL_TENSORFLOW_XLA(name)                             \
  extern "C" __attribute__((visibility("default"))) int32_t              \
  phasic_op_##name##_register(const void* api) {                         \
    return phasic::RegisterWithXla(static_cast<const XLA_FFI_Api*>(api), \
                                   "phasic_op_" #name, "Host",           \
                                   phasic_op_##name##_xla);              \
  }

#endif  // PHASIC_OP_TENSORFLOW_XLA_H_
