#include "native/tf/op_calls.h"

#include <cstdio>
#include <utility>

namespace phasic_tf {
namespace {

// Registers a CPU kernel of an op for the value *type of attribute T, or for
// all values if `type` is null.
void RegisterKernel(const char* name, const KernelFunctions& functions,
                    const TF_DataType* type, TF_Status* status) {
  TF_KernelBuilder* kernel = TF_NewKernelBuilder(
      name, "CPU", functions.create, functions.compute, functions.destroy);
  if (type != nullptr) {
    TF_KernelBuilder_TypeConstraint(kernel, "T", *type, status);
    if (TF_GetCode(status) != TF_OK) {
      TF_DeleteKernelBuilder(kernel);
      return;
    }
  }
  TF_RegisterKernelBuilder(name, kernel, status);
}

}  // namespace

void Fail(TF_OpKernelContext* context, TF_Status* status, const char* message) {
  TF_SetStatus(status,
               message == phasic::kOutOfMemory ? TF_RESOURCE_EXHAUSTED
                                               : TF_INVALID_ARGUMENT,
               message);
  TF_OpKernelContext_Failure(context, status);
}

bool ReadInputs(TF_OpKernelContext* context, TF_Status* status,
                std::vector<Array>* inputs) {
  const int count = TF_NumInputs(context);
  inputs->reserve(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    TF_Tensor* tensor = nullptr;
    TF_GetInput(context, i, &tensor, status);
    if (TF_GetCode(status) != TF_OK) {
      TF_OpKernelContext_Failure(context, status);
      return false;
    }
    Array array;
    array.tensor.reset(tensor);
    for (int d = 0; d < TF_NumDims(tensor); ++d) {
      array.dims.push_back(TF_Dim(tensor, d));
    }
    inputs->push_back(std::move(array));
  }
  return true;
}

Array Allocate(TF_OpKernelContext* context, TF_Status* status, int index,
               const phasic::Shape& shape) {
  Array array;
  array.dims.assign(shape.dims, shape.dims + shape.rank);
  const TF_DataType type = TF_ExpectedOutputDataType(context, index);
  size_t bytes = TF_DataTypeSize(type);
  for (const int64_t dim : array.dims) bytes *= static_cast<size_t>(dim);
  array.tensor.reset(TF_AllocateOutput(context, index, type, array.dims.data(),
                                       static_cast<int>(array.dims.size()),
                                       bytes, status));
  if (TF_GetCode(status) != TF_OK) {
    TF_OpKernelContext_Failure(context, status);
    array.tensor.reset();
  }
  return array;
}

void InferNothing(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);
}

void Register(const char* name, TF_OpDefinitionBuilder* op,
              const KernelFunctions& functions, bool has_type) {
  const Owned<TF_Status> status(TF_NewStatus());
  TF_RegisterOpDefinition(op, status.get());
  constexpr TF_DataType kTypes[] = {TF_FLOAT, TF_DOUBLE};
  if (has_type) {
    for (const TF_DataType& type : kTypes) {
      if (Ok(status)) RegisterKernel(name, functions, &type, status.get());
    }
  } else if (Ok(status)) {
    RegisterKernel(name, functions, nullptr, status.get());
  }
  if (!Ok(status)) {
    // While the library is being loaded, there is no caller that could receive
    // an error. So the error is printed, and Python later reports that the op
    // is missing.
    std::fprintf(stderr, "phasic: registering %s failed: %s\n", name,
                 TF_Message(status.get()));
  }
}

}  // namespace phasic_tf
