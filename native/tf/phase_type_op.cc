// TensorFlow ops for the phase-type kernel, written with TensorFlow's C API.
// They convert the tensors, call the kernel and report its error. The ops are
// registered when the library is loaded (tf.load_op_library).
//
// PhasicPhaseTypeForward computes the directional derivatives J_k,
// PhasicPhaseTypeAdjoint the cotangents V_k, PhasicPhaseTypeStatistics the
// expected statistics of paths, and PhasicPhaseTypeQuantiles quantiles.
// native/kernel/api/phase_type.h and native/quantiles/quantiles.h define these,
// and the inputs and their order. The first group of operands is the
// model and the times, the next groups are tangents; the last input of the
// adjoint is the cotangent. The arrays of a sparse model's edges are in two
// separate lists, `edge_indices` of one tensor and `edge_values` of two; both
// are empty if the model is a subgenerator. The list `kinds` has one tensor, or
// is empty if the attribute `kind` holds for all times.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/quantiles/quantiles.h"
#include "native/tf/op_calls.h"
#include "native/tf/owned.h"
#include "native/tf/shape_inference.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace {

constexpr int kOperands = phasic::kNumOperands;
constexpr int kEdgeArrays = phasic::kNumEdgeArrays;

using phasic_tf::Allocate;
using phasic_tf::Array;
using phasic_tf::Fail;
using phasic_tf::Ok;
using phasic_tf::Owned;

// ---- Kernels --------------------------------------------------------------

struct Attributes {
  int32_t kind = 0;
  int32_t order = 0;
  int32_t num_edge_indices = 0;
  int32_t num_edge_values = 0;
  int32_t wanted = phasic::kAllOperands;
  int32_t num_kinds = 0;
  unsigned char discrete = 0;

  bool has_edges() const { return num_edge_indices == 1; }
  bool has_kinds() const { return num_kinds == 1; }
};

void* Create(TF_OpKernelConstruction* construction, bool has_wanted) {
  Owned<TF_Status> status(TF_NewStatus());
  auto attributes = std::make_unique<Attributes>();
  const std::pair<const char*, int32_t*> fields[] = {
      {"kind", &attributes->kind},
      {"order", &attributes->order},
      {"E", &attributes->num_edge_indices},
      {"V", &attributes->num_edge_values},
      {"K", &attributes->num_kinds}};
  for (const auto& [name, value] : fields) {
    TF_OpKernelConstruction_GetAttrInt32(construction, name, value,
                                         status.get());
    if (!Ok(status)) break;
  }
  if (Ok(status)) {
    TF_OpKernelConstruction_GetAttrBool(construction, "discrete",
                                        &attributes->discrete, status.get());
  }
  if (Ok(status) && has_wanted) {
    TF_OpKernelConstruction_GetAttrInt32(construction, "wanted",
                                         &attributes->wanted, status.get());
  }
  if (Ok(status) && (attributes->num_edge_indices > 1 ||
                     attributes->num_edge_values !=
                         (kEdgeArrays - 1) * attributes->num_edge_indices)) {
    TF_SetStatus(status.get(), TF_INVALID_ARGUMENT,
                 "phase type op: edges are none, or one tensor of indices and "
                 "two of values");
  }
  if (Ok(status) && attributes->num_kinds > 1) {
    TF_SetStatus(status.get(), TF_INVALID_ARGUMENT,
                 "phase type op: kinds are none or one tensor");
  }
  if (!Ok(status)) {
    TF_OpKernelConstruction_Failure(construction, status.get());
    return nullptr;
  }
  return attributes.release();
}

void* CreatePlain(TF_OpKernelConstruction* construction) {
  return Create(construction, /*has_wanted=*/false);
}

void* CreateAdjoint(TF_OpKernelConstruction* construction) {
  return Create(construction, /*has_wanted=*/true);
}

void Delete(void* kernel) { delete static_cast<Attributes*>(kernel); }

// Holds the op's inputs until the kernel has run.
struct Inputs {
  std::vector<Array> arrays;
  // All inputs except the arrays of edges and kinds.
  std::vector<phasic::Input> views;
  std::vector<phasic::Shape> shapes;
  phasic::Edges edges = {};
  phasic::Input kinds = {};
  bool has_edges = false;
  bool has_kinds = false;

  int32_t size() const { return static_cast<int32_t>(views.size()); }
};

// Reads all inputs of the op. Returns false after reporting a failure.
bool ReadOperands(void* kernel, TF_OpKernelContext* context, TF_Status* status,
                  Inputs* inputs) {
  if (!phasic_tf::ReadInputs(context, status, &inputs->arrays)) return false;
  for (const Array& array : inputs->arrays) {
    inputs->views.push_back(array.input());
  }
  const auto* attributes = static_cast<const Attributes*>(kernel);
  inputs->has_edges = attributes->has_edges();
  inputs->has_kinds = attributes->has_kinds();
  const int num_views = inputs->size() - (inputs->has_edges ? kEdgeArrays : 0) -
                        (inputs->has_kinds ? 1 : 0);
  if (num_views < kOperands) {
    Fail(context, status, "phase type op: five operands are needed");
    return false;
  }
  if (inputs->has_kinds) inputs->kinds = inputs->views.back();
  if (inputs->has_edges) {
    const phasic::Input* edges = inputs->views.data() + num_views;
    inputs->edges = {edges[0], edges[1], edges[2]};
  }
  inputs->views.resize(num_views);
  inputs->shapes.reserve(num_views);
  for (const phasic::Input& view : inputs->views) {
    inputs->shapes.push_back(view.shape);
  }
  return true;
}

// Returns the kernel's call, which is valid as long as the inputs exist.
phasic::Call MakeCall(void* kernel, TF_OpKernelContext* context,
                      const Inputs& inputs) {
  const auto* attributes = static_cast<const Attributes*>(kernel);
  const bool single = TF_InputDatatype(context, 0) == TF_FLOAT;
  return {attributes->kind,
          attributes->order,
          /*mapped_dims=*/0,
          single ? phasic::Precision::kFloat32 : phasic::Precision::kFloat64,
          inputs.has_edges ? &inputs.edges : nullptr,
          inputs.has_kinds ? &inputs.kinds : nullptr,
          attributes->discrete != 0,
          attributes->wanted};
}

void ComputeForward(void* kernel, TF_OpKernelContext* context) {
  Owned<TF_Status> status(TF_NewStatus());
  Inputs inputs;
  if (!ReadOperands(kernel, context, status.get(), &inputs)) return;
  const phasic::Call call = MakeCall(kernel, context, inputs);
  int64_t dims[phasic::kMaxRank];
  int32_t rank = 0;
  if (const char* message = phasic::ForwardShape(call, inputs.shapes.data(),
                                                 inputs.size(), dims, &rank)) {
    return Fail(context, status.get(), message);
  }
  const Array value = Allocate(context, status.get(), 0, {dims, rank});
  if (value.tensor == nullptr) return;
  if (const char* message = phasic::Forward(call, inputs.views.data(),
                                            inputs.size(), value.output())) {
    Fail(context, status.get(), message);
  }
}

// Fills an output with NaN. Shape inference does not know which gradients are
// requested, so that gradients that are not requested have full size, too. NaN
// exposes their accidental use.
void FillWithNaN(TF_Tensor* tensor) {
  const auto count = static_cast<size_t>(TF_TensorElementCount(tensor));
  if (TF_TensorType(tensor) == TF_FLOAT) {
    std::fill_n(static_cast<float*>(TF_TensorData(tensor)), count,
                std::numeric_limits<float>::quiet_NaN());
  } else {
    std::fill_n(static_cast<double*>(TF_TensorData(tensor)), count,
                std::numeric_limits<double>::quiet_NaN());
  }
}

void ComputeAdjoint(void* kernel, TF_OpKernelContext* context) {
  Owned<TF_Status> status(TF_NewStatus());
  Inputs inputs;
  if (!ReadOperands(kernel, context, status.get(), &inputs)) return;
  const phasic::Call call = MakeCall(kernel, context, inputs);
  int64_t dims[kOperands][phasic::kMaxRank];
  std::vector<Array> gradients;
  std::vector<phasic::Output> outputs;
  for (int i = 0; i < kOperands; ++i) {
    int32_t rank = 0;
    if (const char* message = phasic::AdjointShape(
            call, inputs.shapes.data(), inputs.size(), i, dims[i], &rank)) {
      return Fail(context, status.get(), message);
    }
    gradients.push_back(Allocate(context, status.get(), i, inputs.shapes[i]));
    if (gradients.back().tensor == nullptr) return;
    if ((call.wanted >> i & 1) == 0) FillWithNaN(gradients.back().tensor.get());
    outputs.push_back({gradients.back().data(), {dims[i], rank}});
  }
  if (const char* message =
          phasic::Adjoint(call, inputs.views.data(), inputs.size(),
                          outputs.data(), kOperands)) {
    Fail(context, status.get(), message);
  }
}

// Computes the outputs of Statistics or Quantiles.
template <class ShapeFunction, class Function>
void ComputeOutputs(void* kernel, TF_OpKernelContext* context, int count,
                    const ShapeFunction& shape, const Function& function) {
  Owned<TF_Status> status(TF_NewStatus());
  Inputs inputs;
  if (!ReadOperands(kernel, context, status.get(), &inputs)) return;
  const phasic::Call call = MakeCall(kernel, context, inputs);
  int64_t dims[kOperands][phasic::kMaxRank];
  std::vector<Array> arrays;
  std::vector<phasic::Output> outputs;
  for (int i = 0; i < count; ++i) {
    int32_t rank = 0;
    if (const char* message = shape(call, inputs.shapes.data(), inputs.size(),
                                    i, dims[i], &rank)) {
      return Fail(context, status.get(), message);
    }
    arrays.push_back(Allocate(context, status.get(), i, {dims[i], rank}));
    if (arrays.back().tensor == nullptr) return;
    outputs.push_back({arrays.back().data(), {dims[i], rank}});
  }
  if (const char* message =
          function(call, inputs.views.data(), inputs.size(), outputs.data(),
                   count, phasic::OwnThreads())) {
    Fail(context, status.get(), message);
  }
}

void ComputeStatistics(void* kernel, TF_OpKernelContext* context) {
  ComputeOutputs(kernel, context, phasic::kNumStatistics,
                 phasic::StatisticsShape, phasic::Statistics);
}

void ComputeQuantiles(void* kernel, TF_OpKernelContext* context) {
  ComputeOutputs(kernel, context, phasic::kNumQuantileOutputs,
                 phasic::QuantilesShape, phasic::Quantiles);
}

// ---- Registration ---------------------------------------------------------

void RegisterOp(const char* name, const char* const* outputs, int num_outputs,
                void (*infer)(TF_ShapeInferenceContext*, TF_Status*),
                void (*compute)(void*, TF_OpKernelContext*),
                bool has_wanted = false) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(name);
  TF_OpDefinitionBuilderAddAttr(op, "T: {float, double}");
  TF_OpDefinitionBuilderAddAttr(op, "N: int >= 5");
  TF_OpDefinitionBuilderAddAttr(op, "E: int >= 0");
  TF_OpDefinitionBuilderAddAttr(op, "V: int >= 0");
  TF_OpDefinitionBuilderAddAttr(op, "K: int >= 0");
  TF_OpDefinitionBuilderAddAttr(op, "kind: int");
  TF_OpDefinitionBuilderAddAttr(op, "order: int");
  TF_OpDefinitionBuilderAddAttr(op, "discrete: bool = false");
  if (has_wanted) TF_OpDefinitionBuilderAddAttr(op, "wanted: int = 31");
  TF_OpDefinitionBuilderAddInput(op, "inputs: N * T");
  TF_OpDefinitionBuilderAddInput(op, "edge_indices: E * int32");
  TF_OpDefinitionBuilderAddInput(op, "edge_values: V * T");
  TF_OpDefinitionBuilderAddInput(op, "kinds: K * int32");
  for (int i = 0; i < num_outputs; ++i) {
    TF_OpDefinitionBuilderAddOutput(op, outputs[i]);
  }
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, infer);
  phasic_tf::Register(
      name, op, {has_wanted ? CreateAdjoint : CreatePlain, compute, Delete},
      /*has_type=*/true);
}

bool RegisterAll() {
  constexpr const char* kValue[] = {"value: T"};
  constexpr const char* kGradients[] = {"initial_probs: T", "subgenerator: T",
                                        "exit_rates: T", "prob_zero: T",
                                        "times: T"};
  RegisterOp("PhasicPhaseTypeForward", kValue, 1, phasic_tf::InferForward,
             ComputeForward);
  RegisterOp("PhasicPhaseTypeAdjoint", kGradients, kOperands,
             phasic_tf::InferAdjoint, ComputeAdjoint, /*has_wanted=*/true);
  constexpr const char* kStatistics[] = {"starts: T", "sojourns: T", "jumps: T",
                                         "exits: T", "atom: T"};
  RegisterOp("PhasicPhaseTypeStatistics", kStatistics, phasic::kNumStatistics,
             phasic_tf::InferStatistics, ComputeStatistics);
  constexpr const char* kQuantiles[] = {"quantiles: T", "times: T",
                                        "time_kinds: int32"};
  RegisterOp("PhasicPhaseTypeQuantiles", kQuantiles,
             phasic::kNumQuantileOutputs, phasic_tf::InferQuantiles,
             ComputeQuantiles);
  return true;
}

[[maybe_unused]] const bool kRegistered = RegisterAll();

}  // namespace
