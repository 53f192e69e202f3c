// Makes one C++ function over plain arrays an op of JAX, TensorFlow and NumPy.
//
//   void Scale(phasic::Call& call) {
//     call.ForType([&](auto zero) {
//       using T = decltype(zero);
//       const auto factor = call.Input<T>(0);
//       const auto x = call.Input<T>(1);
//       const auto y = call.Output<T>(0);
//       const int64_t n = call.Dim("n");
//       call.ForEach([&](const phasic::Example& at) {
//         for (int64_t i = 0; i < n; ++i) y(at)[i] = *factor(at) * x(at)[i];
//       });
//     });
//   }
//   PHASIC_OP(scale, Scale, "factor(), x(n) -> y(n)")
//
// Compile it twice, as shared libraries, with phasic's include folder in the
// include path:
//
//   -DPHASIC_WITH_XLA
//     with jax.ffi.include_dir(): for JAX and NumPy
//   -DPHASIC_WITH_TENSORFLOW
//     with tensorflow.sysconfig.get_include(), linked to
//     libtensorflow_framework: for TensorFlow
//
// Without either macro, the library is for NumPy alone. The Python function
// `phasic.binding.bind_native` makes functions from the libraries. See
// declaration.h for the declaration. The C++ function reports errors by
// exceptions, which become errors of the framework and name the op.

#ifndef PHASIC_OP_H_
#define PHASIC_OP_H_

#include <cstdint>

#include "phasic/op/buffer.h"
#include "phasic/op/call.h"
#include "phasic/op/declaration.h"
#include "phasic/op/run.h"
#if defined(PHASIC_WITH_XLA) || defined(PHASIC_WITH_TENSORFLOW)
#include "phasic/op/xla.h"
#else
#define PHASIC_INTERNAL_XLA(name, function)
#endif
#if defined(PHASIC_WITH_TENSORFLOW)
#include "phasic/op/tensorflow.h"
#include "phasic/op/tensorflow_xla.h"
#else
#define PHASIC_INTERNAL_TENSORFLOW(name, function)
#define PHASIC_INTERNAL_TENSORFLOW_XLA(name)
#endif

// Defines an op called `name` with `function`, void(phasic::Call&). Put it at
// the end of a file, outside of all namespaces.
#define PHASIC_OP(name, function, declaration)                                 \
  namespace phasic_op_##name {                                                 \
    static const phasic::Declaration& GetDeclaration() {                       \
      static const phasic::Declaration parsed =                                \
          phasic::Parse(#name, declaration);                                   \
      return parsed;                                                           \
    }                                                                          \
  }                                                                            \
  extern "C" __attribute__((visibility("default"))) const char*                \
  phasic_op_##name##_declaration() {                                           \
    return declaration;                                                        \
  }                                                                            \
  extern "C" __attribute__((visibility("default"))) int32_t                    \
  phasic_op_##name##_call(const phasic::Buffer* inputs, int32_t num_inputs,    \
                          const phasic::Buffer* outputs, int32_t num_outputs,  \
                          const char* options, char* message,                  \
                          int64_t message_size) {                              \
    return phasic::RunPlain(phasic_op_##name::GetDeclaration(), function,      \
                            inputs, num_inputs, outputs, num_outputs, options, \
                            message, message_size);                            \
  }                                                                            \
  PHASIC_INTERNAL_XLA(name, function)                                          \
  PHASIC_INTERNAL_TENSORFLOW(name, function)                                   \
  PHASIC_INTERNAL_TENSORFLOW_XLA(name)                                         \
  static_assert(true, "")

#endif  // PHASIC_OP_H_
