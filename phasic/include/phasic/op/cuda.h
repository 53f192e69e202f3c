// An op on CUDA, as an XLA FFI handler: include it in a .cu file.
//
//   void Launch(phasic::Call& call, cudaStream_t stream);
//   PHASIC_CUDA_OP(name, Launch, "x() -> y()")
//
// Arrays of the call are in device memory: pass `data()` and `call.layout()` to
// a kernel, and never read them on the host. The declaration is as for
// PHASIC_OP.

#ifndef PHASIC_OP_CUDA_H_
#define PHASIC_OP_CUDA_H_

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "phasic/op/call.h"
#include "phasic/op/declaration.h"
#include "phasic/op/xla.h"

namespace phasic {

// Throws if a launch failed. Call it after each launch.
inline void CheckLaunch() {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string("CUDA: ") +
                             cudaGetErrorString(status));
  }
}

}  // namespace phasic

#define PHASIC_CUDA_OP(name, function, declaration)                    \
  extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*     \
  phasic_op_##name##_cuda(XLA_FFI_CallFrame* call_frame);              \
  namespace phasic_op_##name##_on_cuda {                               \
    static xla::ffi::Error RunOnXla(                                   \
        cudaStream_t stream, std::string_view options,                 \
        xla::ffi::RemainingArgs args, xla::ffi::RemainingRets rets) {  \
      static const phasic::Declaration parsed =                        \
          phasic::Parse(#name, declaration);                           \
      return phasic::RunXla(                                           \
          parsed, [&](phasic::Call& call) { function(call, stream); }, \
          options, args, rets);                                        \
    }                                                                  \
  }                                                                    \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(                                       \
      phasic_op_##name##_cuda, phasic_op_##name##_on_cuda::RunOnXla,   \
      xla::ffi::Ffi::Bind()                                            \
          .Ctx<xla::ffi::PlatformStream<cudaStream_t>>()               \
          .Attr<std::string_view>("options")                           \
          .RemainingArgs()                                             \
          .RemainingRets())

#endif  // PHASIC_OP_CUDA_H_
