// Functions that all TensorFlow ops share: conversion of tensors to the
// kernel's arrays, reports of failures, and registration.

#ifndef PHASIC_NATIVE_TF_OP_CALLS_H_
#define PHASIC_NATIVE_TF_OP_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/tf/owned.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace phasic_tf {

inline bool Ok(const Owned<TF_Status>& status) {
  return TF_GetCode(status.get()) == TF_OK;
}

// Makes the op fail with this message: RESOURCE_EXHAUSTED if it is
// kOutOfMemory, else INVALID_ARGUMENT.
void Fail(TF_OpKernelContext* context, TF_Status* status, const char* message);

// Holds a tensor and its dimensions.
struct Array {
  Owned<TF_Tensor> tensor;
  std::vector<int64_t> dims;

  phasic::Shape shape() const {
    return {dims.data(), static_cast<int32_t>(dims.size())};
  }
  void* data() const {
    return tensor == nullptr ? nullptr : TF_TensorData(tensor.get());
  }
  // The views below are valid while this object exists and is not moved.
  phasic::Input input() const { return {data(), shape()}; }
  phasic::Output output() const { return {data(), shape()}; }
};

// Reads all inputs of the op into `inputs`. Returns false after reporting a
// failure.
bool ReadInputs(TF_OpKernelContext* context, TF_Status* status,
                std::vector<Array>* inputs);

// Allocates and returns output `index` with this shape. The tensor is null if a
// failure was reported.
Array Allocate(TF_OpKernelContext* context, TF_Status* status, int index,
               const phasic::Shape& shape);

// Leaves the output shapes unknown, because the C API does not give the number
// of outputs of some ops. For these ops Python sets the shapes.
void InferNothing(TF_ShapeInferenceContext* context, TF_Status* status);

struct KernelFunctions {
  void* (*create)(TF_OpKernelConstruction*);
  void (*compute)(void*, TF_OpKernelContext*);
  void (*destroy)(void*);
};

// Registers the op and its kernel. If has_type is true, there is one kernel for
// each value of its attribute T, float and double.
void Register(const char* name, TF_OpDefinitionBuilder* op,
              const KernelFunctions& functions, bool has_type);

}  // namespace phasic_tf

#endif  // PHASIC_NATIVE_TF_OP_CALLS_H_
