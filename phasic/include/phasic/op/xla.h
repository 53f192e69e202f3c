// An op as an XLA FFI handler.

#ifndef PHASIC_OP_XLA_H_
#define PHASIC_OP_XLA_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "phasic/op/buffer.h"
#include "phasic/op/declaration.h"
#include "phasic/op/run.h"
#include "xla/ffi/api/ffi.h"

namespace phasic {

inline Type TypeOfXla(xla::ffi::DataType type) {
  using xla::ffi::DataType;
  switch (type) {
    case DataType::PRED:
      return Type::kBool;
    case DataType::S8:
      return Type::kInt8;
    case DataType::S16:
      return Type::kInt16;
    case DataType::S32:
      return Type::kInt32;
    case DataType::S64:
      return Type::kInt64;
    case DataType::U8:
      return Type::kUint8;
    case DataType::U16:
      return Type::kUint16;
    case DataType::U32:
      return Type::kUint32;
    case DataType::U64:
      return Type::kUint64;
    case DataType::F16:
      return Type::kFloat16;
    case DataType::BF16:
      return Type::kBfloat16;
    case DataType::F32:
      return Type::kFloat32;
    case DataType::F64:
      return Type::kFloat64;
    case DataType::C64:
      return Type::kComplex64;
    case DataType::C128:
      return Type::kComplex128;
    default:
      return Type::kNone;
  }
}

// Converts one of XLA's arrays to a buffer. The typed readers in XLA's header
// take more time than the checks against a declaration.
inline Buffer BufferOfXla(const void* array) {
  const auto* const buffer = static_cast<const XLA_FFI_Buffer*>(array);
  return {buffer->data, buffer->dims, static_cast<int32_t>(buffer->rank),
          TypeOfXla(static_cast<xla::ffi::DataType>(buffer->dtype))};
}

class XlaInputs : public xla::ffi::RemainingArgs {
 public:
  explicit XlaInputs(const xla::ffi::RemainingArgs& inputs)
      : RemainingArgs(inputs) {}
  bool IsArray(size_t i) const {
    return args()->types[offset() + i] == XLA_FFI_ArgType_BUFFER;
  }
  Buffer Get(size_t i) const { return BufferOfXla(args()->args[offset() + i]); }
};

class XlaOutputs : public xla::ffi::RemainingRets {
 public:
  explicit XlaOutputs(const xla::ffi::RemainingRets& outputs)
      : RemainingRets(outputs) {}
  bool IsArray(size_t i) const {
    return rets()->types[offset() + i] == XLA_FFI_RetType_BUFFER;
  }
  Buffer Get(size_t i) const { return BufferOfXla(rets()->rets[offset() + i]); }
};

// Converts XLA's arrays to `buffers`. Returns false if one is not an array.
template <class Arrays>
bool ReadXla(const Arrays& arrays, Buffer* buffers) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!arrays.IsArray(i)) return false;
    buffers[i] = arrays.Get(i);
  }
  return true;
}

// Runs `function(call)` on XLA's buffers.
template <class Function>
xla::ffi::Error RunXla(const Declaration& declaration, const Function& function,
                       std::string_view options,
                       const xla::ffi::RemainingArgs& args,
                       const xla::ffi::RemainingRets& rets) {
  Buffer inputs[kMaxOperands];
  Buffer outputs[kMaxOperands];
  std::string problem;
  if (args.size() > kMaxOperands || rets.size() > kMaxOperands) {
    problem = "op " + declaration.name + ": there are too many operands";
  } else if (!ReadXla(XlaInputs(args), inputs) ||
             !ReadXla(XlaOutputs(rets), outputs)) {
    problem = "op " + declaration.name + ": an operand is not an array";
  } else {
    problem = Run(declaration, function, inputs, static_cast<int>(args.size()),
                  outputs, static_cast<int>(rets.size()), options);
  }
  if (problem.empty()) return xla::ffi::Error::Success();
  return xla::ffi::Error(xla::ffi::ErrorCode::kInvalidArgument, problem);
}

}  // namespace phasic

// Part of PHASIC_OP: the handler.
#define PHASIC_INTERNAL_XLA(name, function)                                   \
  extern "C" __attribute__((visibility("default"))) XLA_FFI_Error*            \
  phasic_op_##name##_xla(XLA_FFI_CallFrame* call_frame);                      \
  namespace phasic_op_##name {                                                \
    static xla::ffi::Error RunOnXla(std::string_view options,                 \
                                    xla::ffi::RemainingArgs args,             \
                                    xla::ffi::RemainingRets rets) {           \
      return phasic::RunXla(GetDeclaration(), function, options, args, rets); \
    }                                                                         \
  }                                                                           \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(phasic_op_##name##_xla,                       \
                                phasic_op_##name::RunOnXla,                   \
                                xla::ffi::Ffi::Bind()                         \
                                    .Attr<std::string_view>("options")        \
                                    .RemainingArgs()                          \
                                    .RemainingRets());

#endif  // PHASIC_OP_XLA_H_
