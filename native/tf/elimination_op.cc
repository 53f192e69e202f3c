// PhasicEliminate: the linear systems of chains, on TensorFlow's C API. Inputs
// are indices, weights, per_phase and a list per_edge of one tensor or none;
// the outputs are one that belongs to phases and a list of one that belongs to
// edges or none. See native/elimination/elimination.h. Python sets the shapes,
// which the C API cannot tell of lists.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "native/elimination/elimination.h"
#include "native/tf/owned.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace {

using phasic_tf::Owned;

constexpr const char* kName = "PhasicEliminate";
constexpr int kFixedInputs = 3;

struct Attributes {
  unsigned char transposed = 0;
};

void* Create(TF_OpKernelConstruction* construction) {
  Owned<TF_Status> status(TF_NewStatus());
  auto attributes = std::make_unique<Attributes>();
  TF_OpKernelConstruction_GetAttrBool(construction, "transposed",
                                      &attributes->transposed, status.get());
  if (TF_GetCode(status.get()) != TF_OK) {
    TF_OpKernelConstruction_Failure(construction, status.get());
    return nullptr;
  }
  return attributes.release();
}

void Delete(void* kernel) { delete static_cast<Attributes*>(kernel); }

void Fail(TF_OpKernelContext* context, TF_Status* status, const char* message) {
  TF_SetStatus(status, TF_INVALID_ARGUMENT, message);
  TF_OpKernelContext_Failure(context, status);
}

// A tensor and its dimensions.
struct Array {
  Owned<TF_Tensor> tensor;
  std::vector<int64_t> dims;

  phasic::Shape shape() const {
    return {dims.data(), static_cast<int32_t>(dims.size())};
  }
  phasic::Input input() const {
    const void* data =
        tensor == nullptr ? nullptr : TF_TensorData(tensor.get());
    return {data, shape()};
  }
};

bool ReadInputs(TF_OpKernelContext* context, TF_Status* status,
                std::vector<Array>* inputs) {
  for (int i = 0; i < TF_NumInputs(context); ++i) {
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

// Dimensions of a result: those of the batch, then two more.
std::vector<int64_t> ResultDims(const std::vector<Array>& inputs, int64_t rows,
                                int64_t columns) {
  std::vector<int64_t> dims(inputs[1].dims.begin(), inputs[1].dims.end() - 1);
  for (const Array& input : inputs) {
    for (size_t axis = 0; axis < dims.size() && axis < input.dims.size();
         ++axis) {
      if (input.dims[axis] != 1) dims[axis] = input.dims[axis];
    }
  }
  dims.push_back(rows);
  dims.push_back(columns);
  return dims;
}

bool AllocateOutput(TF_OpKernelContext* context, TF_Status* status, int index,
                    TF_DataType type, Array* output) {
  size_t bytes = TF_DataTypeSize(type);
  for (const int64_t dim : output->dims) bytes *= static_cast<size_t>(dim);
  output->tensor.reset(
      TF_AllocateOutput(context, index, type, output->dims.data(),
                        static_cast<int>(output->dims.size()), bytes, status));
  if (TF_GetCode(status) == TF_OK) return true;
  TF_OpKernelContext_Failure(context, status);
  return false;
}

void Compute(void* kernel, TF_OpKernelContext* context) {
  Owned<TF_Status> status(TF_NewStatus());
  std::vector<Array> inputs;
  if (!ReadInputs(context, status.get(), &inputs)) return;
  const std::vector<int64_t>& weights = inputs[1].dims;
  const std::vector<int64_t>& phases = inputs[2].dims;
  if (weights.empty() || phases.size() != weights.size() + 1) {
    return Fail(context, status.get(),
                "elimination: weights must be [batch..., m] and per_phase "
                "[batch..., p, r]");
  }
  const int64_t columns = phases.back();
  const bool gives_edges = TF_NumOutputs(context) > 1;
  phasic::LinearSystem system = {};
  system.indices = inputs[0].input();
  system.weights = inputs[1].input();
  system.per_phase = inputs[2].input();
  Array nothing;
  nothing.dims.assign(weights.size() - 1, 1);
  nothing.dims.push_back(0);
  nothing.dims.push_back(columns);
  system.per_edge =
      (inputs.size() > kFixedInputs ? inputs[kFixedInputs] : nothing).input();
  const TF_DataType type = TF_ExpectedOutputDataType(context, 0);
  system.precision = type == TF_FLOAT ? phasic::Precision::kFloat32
                                      : phasic::Precision::kFloat64;
  Array per_phase;
  Array per_edge;
  per_phase.dims = ResultDims(inputs, phases[phases.size() - 2], columns);
  per_edge.dims = gives_edges ? ResultDims(inputs, weights.back(), columns)
                              : ResultDims(inputs, 0, 0);
  if (!AllocateOutput(context, status.get(), 0, type, &per_phase)) return;
  if (gives_edges &&
      !AllocateOutput(context, status.get(), 1, type, &per_edge)) {
    return;
  }
  const auto as_output = [](const Array& array) {
    void* data =
        array.tensor == nullptr ? nullptr : TF_TensorData(array.tensor.get());
    return phasic::Output{data, array.shape()};
  };
  const auto* attributes = static_cast<const Attributes*>(kernel);
  const char* message = phasic::Eliminate(
      attributes->transposed != 0 ? phasic::Direction::kSolveTransposed
                                  : phasic::Direction::kSolve,
      system, as_output(per_phase), as_output(per_edge));
  if (message != nullptr) Fail(context, status.get(), message);
}

void Infer(TF_ShapeInferenceContext* context, TF_Status* status) {
  TF_ShapeInferenceContextSetUnknownShape(context, status);
}

bool Register() {
  Owned<TF_Status> status(TF_NewStatus());
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(kName);
  TF_OpDefinitionBuilderAddAttr(op, "T: {float, double}");
  TF_OpDefinitionBuilderAddAttr(op, "E: int >= 0");
  TF_OpDefinitionBuilderAddAttr(op, "G: int >= 0");
  TF_OpDefinitionBuilderAddAttr(op, "transposed: bool");
  TF_OpDefinitionBuilderAddInput(op, "indices: int32");
  TF_OpDefinitionBuilderAddInput(op, "weights: T");
  TF_OpDefinitionBuilderAddInput(op, "per_phase: T");
  TF_OpDefinitionBuilderAddInput(op, "per_edge: E * T");
  TF_OpDefinitionBuilderAddOutput(op, "phase_results: T");
  TF_OpDefinitionBuilderAddOutput(op, "edge_results: G * T");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, Infer);
  TF_RegisterOpDefinition(op, status.get());
  for (const TF_DataType dtype : {TF_FLOAT, TF_DOUBLE}) {
    if (TF_GetCode(status.get()) != TF_OK) break;
    TF_KernelBuilder* kernel =
        TF_NewKernelBuilder(kName, "CPU", Create, Compute, Delete);
    TF_KernelBuilder_TypeConstraint(kernel, "T", dtype, status.get());
    if (TF_GetCode(status.get()) != TF_OK) {
      TF_DeleteKernelBuilder(kernel);
      break;
    }
    TF_RegisterKernelBuilder(kName, kernel, status.get());
  }
  if (TF_GetCode(status.get()) != TF_OK) {
    std::fprintf(stderr, "phasic: registering %s failed: %s\n", kName,
                 TF_Message(status.get()));
  }
  return true;
}

[[maybe_unused]] const bool kRegistered = Register();

}  // namespace
