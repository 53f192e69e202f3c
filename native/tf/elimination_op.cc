// PhasicEliminate: a TensorFlow op that solves the linear systems of chains,
// written with TensorFlow's C API. Inputs are indices, weights, per_phase and
// the list per_edge, which has one tensor or none. Outputs are the results for
// phases, and a list with the results for edges, which may be empty. See
// native/elimination/api/elimination.h. Python sets the shapes, because the C
// API does not give the lengths of lists.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "native/elimination/api/elimination.h"
#include "native/tf/op_calls.h"
#include "native/tf/owned.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace {

using phasic_tf::Allocate;
using phasic_tf::Array;
using phasic_tf::Fail;
using phasic_tf::Ok;
using phasic_tf::Owned;
using phasic_tf::ReadInputs;

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
  if (!Ok(status)) {
    TF_OpKernelConstruction_Failure(construction, status.get());
    return nullptr;
  }
  return attributes.release();
}

void Delete(void* kernel) { delete static_cast<Attributes*>(kernel); }

// Returns the dimensions of a result: broadcast batch dimensions, then `rows`
// and `columns`.
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

phasic::Shape ShapeOf(const std::vector<int64_t>& dims) {
  return {dims.data(), static_cast<int32_t>(dims.size())};
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
  system.precision = TF_ExpectedOutputDataType(context, 0) == TF_FLOAT
                         ? phasic::Precision::kFloat32
                         : phasic::Precision::kFloat64;
  const Array per_phase =
      Allocate(context, status.get(), 0,
               ShapeOf(ResultDims(inputs, phases[phases.size() - 2], columns)));
  if (per_phase.tensor == nullptr) return;
  Array per_edge;
  if (gives_edges) {
    const auto dims = ResultDims(inputs, weights.back(), columns);
    per_edge = Allocate(context, status.get(), 1, ShapeOf(dims));
    if (per_edge.tensor == nullptr) return;
  } else {
    per_edge.dims = ResultDims(inputs, 0, 0);
  }
  const auto* attributes = static_cast<const Attributes*>(kernel);
  const char* message = phasic::Eliminate(
      attributes->transposed != 0 ? phasic::Direction::kSolveTransposed
                                  : phasic::Direction::kSolve,
      system, per_phase.output(), per_edge.output());
  if (message != nullptr) Fail(context, status.get(), message);
}

bool RegisterElimination() {
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
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, phasic_tf::InferNothing);
  phasic_tf::Register(kName, op, {Create, Compute, Delete}, /*has_type=*/true);
  return true;
}

[[maybe_unused]] const bool kRegistered = RegisterElimination();

}  // namespace
