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

inline Buffer BufferOfXla(const xla::ffi::AnyBuffer& buffer) {
  const auto dims = buffer.dimensions();
  return {buffer.untyped_data(), dims.begin(),
          static_cast<int32_t>(dims.size()), TypeOfXla(buffer.element_type())};
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
  }
  for (size_t i = 0; problem.empty() && i < args.size(); ++i) {
    const auto buffer = args.get<xla::ffi::AnyBuffer>(i);
    if (buffer.has_error()) {
      problem = "op " + declaration.name + ": an input is no array";
    } else {
      inputs[i] = BufferOfXla(*buffer);
    }
  }
  for (size_t i = 0; problem.empty() && i < rets.size(); ++i) {
    auto buffer = rets.get<xla::ffi::AnyBuffer>(i);
    if (buffer.has_error()) {
      problem = "op " + declaration.name + ": an output is no array";
    } else {
      outputs[i] = BufferOfXla(**buffer);
    }
  }
  if (problem.empty()) {
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
