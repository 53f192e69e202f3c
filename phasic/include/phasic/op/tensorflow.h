// An op of TensorFlow, on its C API. Loading the library registers it.
//
// The op `name_of_it` is PhasicOpNameOfIt in graphs. Its inputs and outputs are
// lists; Python knows their lengths and shapes.

#ifndef PHASIC_OP_TENSORFLOW_H_
#define PHASIC_OP_TENSORFLOW_H_

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "phasic/op/buffer.h"
#include "phasic/op/declaration.h"
#include "phasic/op/run.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace phasic {

inline Type TypeOfTensorFlow(TF_DataType type) {
  switch (type) {
    case TF_BOOL:
      return Type::kBool;
    case TF_INT8:
      return Type::kInt8;
    case TF_INT16:
      return Type::kInt16;
    case TF_INT32:
      return Type::kInt32;
    case TF_INT64:
      return Type::kInt64;
    case TF_UINT8:
      return Type::kUint8;
    case TF_UINT16:
      return Type::kUint16;
    case TF_UINT32:
      return Type::kUint32;
    case TF_UINT64:
      return Type::kUint64;
    case TF_HALF:
      return Type::kFloat16;
    case TF_BFLOAT16:
      return Type::kBfloat16;
    case TF_FLOAT:
      return Type::kFloat32;
    case TF_DOUBLE:
      return Type::kFloat64;
    case TF_COMPLEX64:
      return Type::kComplex64;
    case TF_COMPLEX128:
      return Type::kComplex128;
    default:
      return Type::kNone;
  }
}

// Converts snake_case to CamelCase, with a prefix that TensorFlow's own ops do
// not have.
inline std::string TensorFlowName(const std::string& name) {
  std::string result = "PhasicOp";
  bool upper = true;
  for (const char c : name) {
    if (c != '_') {
      result +=
          upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                : c;
    }
    upper = c == '_';
  }
  return result;
}

namespace internal {

struct TensorFlowDeleter {
  void operator()(TF_Status* p) const { TF_DeleteStatus(p); }
  void operator()(TF_Tensor* p) const { TF_DeleteTensor(p); }
};
template <class T>
using TensorFlowOwned = std::unique_ptr<T, TensorFlowDeleter>;

struct HeldTensor {
  TensorFlowOwned<TF_Tensor> tensor;
  std::vector<int64_t> dims;
  Type type = Type::kNone;

  Buffer buffer() const {
    return {tensor == nullptr ? nullptr : TF_TensorData(tensor.get()),
            dims.data(), static_cast<int32_t>(dims.size()), type};
  }
};

inline void* CreateTensorFlowKernel(TF_OpKernelConstruction* construction) {
  const TensorFlowOwned<TF_Status> status(TF_NewStatus());
  int32_t count = 0;
  int32_t size = 0;
  TF_OpKernelConstruction_GetAttrSize(construction, "options", &count, &size,
                                      status.get());
  auto options = std::make_unique<std::string>();
  if (TF_GetCode(status.get()) == TF_OK && size > 0) {
    options->resize(static_cast<size_t>(size));
    TF_OpKernelConstruction_GetAttrString(construction, "options",
                                          options->data(), options->size(),
                                          status.get());
  }
  if (TF_GetCode(status.get()) != TF_OK) {
    TF_OpKernelConstruction_Failure(construction, status.get());
  }
  return options.release();
}

inline void DeleteTensorFlowKernel(void* kernel) {
  delete static_cast<std::string*>(kernel);
}

// Returns the shape of an output: the broadcast batch dimensions of the inputs,
// then the dimensions of one example. Sizes of dimensions that no input has are
// in `sizes`, which has an entry for each name of a dimension.
inline std::vector<int64_t> OutputDims(const Declaration& declaration,
                                       const std::vector<HeldTensor>& inputs,
                                       const HeldTensor& sizes, size_t output) {
  std::vector<int64_t> dims;
  const size_t core = declaration.inputs[0].dims.size();
  const size_t rank = inputs[0].dims.size();
  for (size_t axis = 0; axis + core < rank; ++axis) {
    dims.push_back(1);
    for (const HeldTensor& input : inputs) {
      if (axis < input.dims.size() && input.dims[axis] != 1) {
        dims.back() = input.dims[axis];
      }
    }
  }
  const auto* given = static_cast<const int64_t*>(sizes.buffer().data);
  for (const int dim : declaration.outputs[output].dims) {
    dims.push_back(dim < sizes.dims[0] ? given[dim] : 0);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::vector<int>& own = declaration.inputs[i].dims;
      if (own.size() > inputs[i].dims.size()) continue;
      const size_t batch = inputs[i].dims.size() - own.size();
      for (size_t k = 0; k < own.size(); ++k) {
        if (own[k] == dim) dims.back() = inputs[i].dims[batch + k];
      }
    }
  }
  return dims;
}

// Reads an input; returns false after reporting a failure.
inline bool ReadTensor(TF_OpKernelContext* context, TF_Status* status,
                       int index, HeldTensor* result) {
  TF_Tensor* tensor = nullptr;
  TF_GetInput(context, index, &tensor, status);
  if (TF_GetCode(status) != TF_OK) {
    TF_OpKernelContext_Failure(context, status);
    return false;
  }
  result->tensor.reset(tensor);
  result->type = TypeOfTensorFlow(TF_TensorType(tensor));
  for (int d = 0; d < TF_NumDims(tensor); ++d) {
    result->dims.push_back(TF_Dim(tensor, d));
  }
  return true;
}

// Returns the bytes of a dense array, or -1 if the size is invalid: TensorFlow
// aborts the process if it must allocate such sizes.
inline int64_t NumBytes(const std::vector<int64_t>& dims, size_t item) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  auto bytes = static_cast<int64_t>(item);
  bool is_empty = false;
  for (const int64_t dim : dims) {
    if (dim < 0) return -1;
    if (dim == 0) is_empty = true;
    if (dim == 0 || bytes < 0) continue;
    bytes = bytes > kMax / dim ? -1 : bytes * dim;
  }
  // As in TensorFlow, the other sizes of an empty array must be valid, too.
  return is_empty && bytes >= 0 ? 0 : bytes;
}

inline std::string ShapeText(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::to_string(dims[i]);
  }
  return text + "]";
}

inline bool AllocateTensor(TF_OpKernelContext* context, TF_Status* status,
                           int index, int64_t bytes, HeldTensor* result) {
  const TF_DataType type = TF_ExpectedOutputDataType(context, index);
  result->tensor.reset(TF_AllocateOutput(context, index, type,
                                         result->dims.data(),
                                         static_cast<int>(result->dims.size()),
                                         static_cast<size_t>(bytes), status));
  result->type = TypeOfTensorFlow(type);
  if (TF_GetCode(status) == TF_OK) return true;
  TF_OpKernelContext_Failure(context, status);
  return false;
}

template <class Function>
void ComputeOnTensorFlow(const Declaration& declaration,
                         const Function& function, void* kernel,
                         TF_OpKernelContext* context) {
  const TensorFlowOwned<TF_Status> status(TF_NewStatus());
  const auto fail = [&](const std::string& problem) {
    TF_SetStatus(status.get(), TF_INVALID_ARGUMENT, problem.c_str());
    TF_OpKernelContext_Failure(context, status.get());
  };
  const std::string label = "op " + declaration.name + ": ";
  if (!declaration.problem.empty()) return fail(label + declaration.problem);
  const auto num_inputs = static_cast<size_t>(TF_NumInputs(context) - 1);
  const auto num_outputs = static_cast<size_t>(TF_NumOutputs(context));
  if (num_inputs != declaration.inputs.size() ||
      num_outputs != declaration.outputs.size()) {
    return fail(label + "wrong number of operands; the op is declared as '" +
                declaration.text + "'");
  }
  std::vector<HeldTensor> inputs(num_inputs);
  std::vector<HeldTensor> outputs(num_outputs);
  HeldTensor sizes;
  Buffer input_buffers[kMaxOperands];
  Buffer output_buffers[kMaxOperands];
  if (!ReadTensor(context, status.get(), 0, &sizes)) return;
  if (sizes.dims.size() != 1) return fail(label + "sizes must be a vector");
  for (size_t i = 0; i < num_inputs; ++i) {
    const int position = static_cast<int>(i) + 1;
    if (!ReadTensor(context, status.get(), position, &inputs[i])) return;
    input_buffers[i] = inputs[i].buffer();
  }
  for (size_t i = 0; i < num_outputs; ++i) {
    outputs[i].dims = OutputDims(declaration, inputs, sizes, i);
    const int position = static_cast<int>(i);
    const size_t item =
        TF_DataTypeSize(TF_ExpectedOutputDataType(context, position));
    const int64_t bytes = NumBytes(outputs[i].dims, item);
    if (bytes < 0) {
      return fail(label + "output " + std::to_string(i) + " (" +
                  declaration.outputs[i].name + ") cannot have shape " +
                  ShapeText(outputs[i].dims) +
                  ", which follows from the inputs and `sizes`; the op is "
                  "declared as '" +
                  declaration.text + "'");
    }
    if (!AllocateTensor(context, status.get(), position, bytes, &outputs[i])) {
      return;
    }
    output_buffers[i] = outputs[i].buffer();
  }
  const std::string problem =
      Run(declaration, function, input_buffers, static_cast<int>(num_inputs),
          output_buffers, static_cast<int>(num_outputs),
          *static_cast<const std::string*>(kernel));
  if (!problem.empty()) fail(problem);
}

inline void InferNoShapes(TF_ShapeInferenceContext* context,
                          TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);
}

inline bool RegisterWithTensorFlow(const char* snake_name,
                                   void (*compute)(void*,
                                                   TF_OpKernelContext*)) {
  const std::string name = TensorFlowName(snake_name);
  const TensorFlowOwned<TF_Status> status(TF_NewStatus());
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name.c_str());
  TF_OpDefinitionBuilderAddAttr(op, "options: string");
  TF_OpDefinitionBuilderAddAttr(op, "bound: string");  // rules of Python
  TF_OpDefinitionBuilderAddAttr(op, "Tin: list(type) >= 1");
  TF_OpDefinitionBuilderAddAttr(op, "Tout: list(type) >= 1");
  TF_OpDefinitionBuilderAddInput(op, "sizes: int64");
  TF_OpDefinitionBuilderAddInput(op, "inputs: Tin");
  TF_OpDefinitionBuilderAddOutput(op, "outputs: Tout");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, InferNoShapes);
  TF_RegisterOpDefinition(op, status.get());
  if (TF_GetCode(status.get()) == TF_OK) {
    TF_RegisterKernelBuilder(
        name.c_str(),
        TF_NewKernelBuilder(name.c_str(), "CPU", CreateTensorFlowKernel,
                            compute, DeleteTensorFlowKernel),
        status.get());
  }
  const bool registered = TF_GetCode(status.get()) == TF_OK;
  if (!registered) {
    // No caller can receive an error while the library is loaded. So the error
    // is printed, and Python then reports that the op is missing.
    std::fprintf(stderr, "op %s: TensorFlow refused it: %s\n", snake_name,
                 TF_Message(status.get()));
  }
  return registered;
}

}  // namespace internal
}  // namespace phasic

// Part of PHASIC_OP.
#define PHASIC_INTERNAL_TENSORFLOW(name, function)                            \
  namespace phasic_op_##name {                                                \
    static void ComputeOnTensorFlow(void* kernel,                             \
                                    TF_OpKernelContext* context) {            \
      phasic::internal::ComputeOnTensorFlow(GetDeclaration(), function,       \
                                            kernel, context);                 \
    }                                                                         \
    [[maybe_unused]] static const bool kRegistered =                          \
        phasic::internal::RegisterWithTensorFlow(#name, ComputeOnTensorFlow); \
  }

#endif  // PHASIC_OP_TENSORFLOW_H_
